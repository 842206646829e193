"""Launch templates."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Properties
from local.aws.plugin.schema import ResourceSchema
from local.aws.plugin.services.ec2.base import Ec2Handler
from local.aws.plugin.shapes import Shapes
from local.aws.plugin.tags import from_pairs


class LaunchTemplate(Ec2Handler):
    type = "aws:ec2/launchTemplate:LaunchTemplate"

    def _data(self, inputs: Properties) -> dict[str, Any]:
        data = {key: value for key, value in inputs.items() if key not in NOT_IN_DATA and value != []}
        made: dict[str, Any] = SHAPES.aws(data)
        return made

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
                inputs[name] = SHAPES.sdk(data.get(SHAPES.name(name)), definition["type"])
        return inputs

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_launch_template, LaunchTemplateId=name)


NOT_IN_DATA = frozenset(
    {"name", "namePrefix", "description", "region", "tags", "tagsAll", "updateDefaultVersion", "defaultVersion"}
)
"""Inputs of a launch template that belong to the template, not to a version's data."""
NOT_VERSIONED = frozenset({"updateDefaultVersion", "defaultVersion"})
"""A change of these alone makes no new version."""
SHAPES = Shapes(
    names={"securityGroups": "Groups", "vpcSecurityGroupIds": "SecurityGroupIds"},
    flags=frozenset({"associatePublicIpAddress", "deleteOnTermination", "encrypted", "ebsOptimized"}),
)
