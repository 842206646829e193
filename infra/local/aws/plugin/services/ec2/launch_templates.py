"""Launch templates."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Properties
from local.aws.plugin.schema import ResourceSchema, shaped
from local.aws.plugin.services.ec2.base import Ec2Handler
from local.aws.plugin.tags import as_pairs, from_pairs


class LaunchTemplate(Ec2Handler):
    type = "aws:ec2/launchTemplate:LaunchTemplate"

    def _data(self, inputs: Properties) -> dict[str, Any]:
        return {
            _data_name(key): _aws(value)
            for key, value in inputs.items()
            if key not in NOT_IN_DATA and value not in (None, "", [])
        }

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_launch_template(
            LaunchTemplateName=inputs["name"],
            VersionDescription=inputs.get("description") or "",
            LaunchTemplateData=self._data(inputs),
        )["LaunchTemplate"]
        return str(made["LaunchTemplateId"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        default = inputs.get("defaultVersion") if "defaultVersion" in changed else None
        if changed - NOT_VERSIONED:
            made = client.create_launch_template_version(
                LaunchTemplateId=name,
                LaunchTemplateData=self._data(inputs),
                VersionDescription=inputs.get("description") or "",
            )["LaunchTemplateVersion"]
            if inputs.get("updateDefaultVersion"):
                default = made["VersionNumber"]
        if default is not None:
            client.modify_launch_template(LaunchTemplateId=name, DefaultVersion=str(default))

    def unknown_after(self, inputs: Properties, changed: frozenset[str]) -> frozenset[str]:
        if not changed - NOT_VERSIONED:
            return frozenset()
        return frozenset({"latestVersion", *(("defaultVersion",) if inputs.get("updateDefaultVersion") else ())})

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_launch_templates", "LaunchTemplates", LaunchTemplateIds=[name])
        if found is None:
            return None
        versions = self.client(cloud).describe_launch_template_versions(LaunchTemplateId=name, Versions=["$Latest"])
        data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        # moto's own answer has only the tags that it was made with.
        tags = self.client(cloud).describe_tags(Filters=[{"Name": "resource-id", "Values": [name]}])["Tags"]
        return {
            "arn": cloud.arn("ec2", f"launch-template/{name}"),
            "name": found["LaunchTemplateName"],
            "latestVersion": found["LatestVersionNumber"],
            "defaultVersion": found["DefaultVersionNumber"],
            "description": versions["LaunchTemplateVersions"][0].get("VersionDescription", ""),
            **self._inputs(data),
            "tagsAll": from_pairs(tags),
        }

    def _inputs(self, data: dict[str, Any]) -> Properties:
        """Every input that the latest version's data holds, or says it has not."""
        inputs: Properties = {}
        for name, definition in ResourceSchema.of(self.type).inputs.items():
            if name not in NOT_IN_DATA:
                inputs[name] = shaped(data.get(_data_name(name)), definition["type"], _wire_value)
        return inputs

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_launch_template, LaunchTemplateId=name)


NOT_IN_DATA = frozenset(
    {"name", "namePrefix", "description", "region", "tags", "tagsAll", "updateDefaultVersion", "defaultVersion"}
)
"""Inputs of a launch template that belong to the template, not to a version's data."""
NOT_VERSIONED = frozenset({"updateDefaultVersion", "defaultVersion"})
"""A change of these alone makes no new version."""
BLOCK_NAMES = {"securityGroups": "Groups"}


def _data_name(key: str) -> str:
    return "SecurityGroupIds" if key == "vpcSecurityGroupIds" else key[0].upper() + key[1:]


def _wire_value(block: Any, key: str) -> Any:
    """The value of a block's input in what EC2 answers."""
    value = block.get(_aws_name(key))
    return from_pairs(value) if key == "tags" else value


def _aws(value: Any) -> Any:
    """A block of the SDK as EC2 takes it: capital names, flags and numbers as they are typed there."""
    if isinstance(value, dict):
        return {_aws_name(key): _aws_leaf(key, item) for key, item in value.items() if item not in (None, "")}
    if isinstance(value, list):
        return [_aws(item) for item in value]
    return value


def _aws_name(key: str) -> str:
    return BLOCK_NAMES.get(key, key[0].upper() + key[1:])


def _aws_leaf(key: str, value: Any) -> Any:
    if key in ("associatePublicIpAddress", "deleteOnTermination", "encrypted", "ebsOptimized"):
        return str(value).lower() == "true"
    if key == "tags":
        return as_pairs(value)
    if isinstance(value, float):
        return int(value)
    return _aws(value)
