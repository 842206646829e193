"""EKS. Cluster and node groups are moto's; what moto lacks is recorded only."""

from __future__ import annotations

import hashlib
from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties, RecordedHandler

LACKING = "moto has no EKS {}"


class EksHandler(Handler):
    """Tags of EKS go by ARN."""

    service = "eks"

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.untag_resource(resourceArn=state["arn"], tagKeys=remove)
        client.tag_resource(resourceArn=state["arn"], tags=tags)


class Cluster(EksHandler):
    type = "aws:eks/cluster:Cluster"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        encryption = inputs.get("encryptionConfig")
        optional: dict[str, Any] = {}
        if encryption:
            provider = {"keyArn": encryption["provider"]["keyArn"]}
            optional["encryptionConfig"] = [{"resources": encryption["resources"], "provider": provider}]
        self.client(cloud).create_cluster(
            name=inputs["name"],
            roleArn=inputs["roleArn"],
            version=inputs.get("version") or "1.36",
            resourcesVpcConfig=_vpc(inputs["vpcConfig"]),
            logging=_logging(inputs),
            tags=inputs.get("tagsAll") or {},
            **optional,
        )
        return str(inputs["name"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        # AWS takes one kind of change a call.
        if "vpcConfig" in changed:
            client.update_cluster_config(name=name, resourcesVpcConfig=_vpc(inputs["vpcConfig"]))
        if "enabledClusterLogTypes" in changed:
            client.update_cluster_config(name=name, logging=_logging(inputs))
        if "version" in changed:
            client.update_cluster_version(name=name, version=inputs["version"])

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        return {"encryptionConfig": bool(state.get("encryptionConfig")) and not inputs.get("encryptionConfig")}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).describe_cluster, name=name)
        if answer is None:
            return None
        found = answer["cluster"]
        encryption = (found.get("encryptionConfig") or [None])[0]
        return {
            "arn": found["arn"],
            "name": name,
            "roleArn": found["roleArn"],
            "version": found["version"],
            "endpoint": found["endpoint"],
            "certificateAuthority": {"data": found["certificateAuthority"]["data"]},
            "identities": [{"oidcs": [{"issuer": found["identity"]["oidc"]["issuer"]}]}],
            "createdAt": found["createdAt"].isoformat(),
            "platformVersion": found.get("platformVersion", ""),
            "status": "ACTIVE",
            "clusterId": "",
            "vpcConfig": {key: found["resourcesVpcConfig"].get(key) for key in VPC_CONFIG},
            "encryptionConfig": encryption,
            "enabledClusterLogTypes": [
                kind for entry in found["logging"]["clusterLogging"] if entry["enabled"] for kind in entry["types"]
            ],
            "tagsAll": found.get("tags", {}),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_cluster, name=name)


VPC_CONFIG = (
    *("subnetIds", "securityGroupIds", "publicAccessCidrs", "endpointPublicAccess", "endpointPrivateAccess"),
    *("vpcId", "clusterSecurityGroupId"),
)
"""What EKS answers of a cluster's network; the last two it makes itself."""
LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


def _vpc(config: Properties) -> dict[str, Any]:
    return {key: config[key] for key in VPC_CONFIG[:-2] if config.get(key) is not None}


def _logging(inputs: Properties) -> dict[str, Any]:
    wanted = inputs.get("enabledClusterLogTypes") or []
    rest = [kind for kind in LOG_TYPES if kind not in wanted]
    groups = ((wanted, True), (rest, False))
    return {"clusterLogging": [{"types": types, "enabled": enabled} for types, enabled in groups if types]}


class NodeGroup(EksHandler):
    type = "aws:eks/nodeGroup:NodeGroup"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        optional: dict[str, Any] = {
            key: inputs[key]
            for key in ("instanceTypes", "amiType", "capacityType", "labels", "version", "releaseVersion")
            if inputs.get(key)
        }
        if inputs.get("launchTemplate"):
            optional["launchTemplate"] = _template(inputs)
        if inputs.get("taints"):
            optional["taints"] = _taints(inputs)
        self.client(cloud).create_nodegroup(
            clusterName=inputs["clusterName"],
            nodegroupName=inputs["nodeGroupName"],
            nodeRole=inputs["nodeRoleArn"],
            subnets=inputs["subnetIds"],
            scalingConfig=_scaling(inputs["scalingConfig"]),
            tags=inputs.get("tagsAll") or {},
            **optional,
        )
        return f"{inputs['clusterName']}:{inputs['nodeGroupName']}"

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        cluster, _, group = name.partition(":")
        arguments: dict[str, Any] = {}
        if "scalingConfig" in changed:
            arguments["scalingConfig"] = _scaling(inputs["scalingConfig"])
        if "labels" in changed:
            old, new = state.get("labels") or {}, inputs.get("labels") or {}
            arguments["labels"] = {"addOrUpdateLabels": new, "removeLabels": sorted(set(old) - set(new))}
        if "taints" in changed:
            new_taints = _taints(inputs)
            # Key and effect say which taint it is: another value changes it.
            staying = {(taint["key"], taint["effect"]) for taint in new_taints}
            removed = [taint for taint in _taints(state) if (taint["key"], taint["effect"]) not in staying]
            arguments["taints"] = {"addOrUpdateTaints": new_taints, "removeTaints": removed}
        if arguments:
            self.client(cloud).update_nodegroup_config(clusterName=cluster, nodegroupName=group, **arguments)
        versions: dict[str, Any] = {key: inputs[key] for key in ("version", "releaseVersion") if key in changed}
        if "launchTemplate" in changed and inputs.get("launchTemplate"):
            versions["launchTemplate"] = _template(inputs)
        if versions:
            self.client(cloud).update_nodegroup_version(clusterName=cluster, nodegroupName=group, **versions)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        cluster, _, group = name.partition(":")
        answer = cloud.found(self.client(cloud).describe_nodegroup, clusterName=cluster, nodegroupName=group)
        if answer is None:
            return None
        found = answer["nodegroup"]
        scaling = found["scalingConfig"]
        autoscaling = [{"name": g["name"]} for g in (found.get("resources") or {}).get("autoScalingGroups", ())]
        state: Properties = {
            "arn": found["nodegroupArn"],
            "clusterName": cluster,
            "nodeGroupName": group,
            "nodeRoleArn": found["nodeRole"],
            "subnetIds": found["subnets"],
            "scalingConfig": {key: scaling[key] for key in ("desiredSize", "minSize", "maxSize")},
            "labels": found.get("labels") or {},
            "taints": [{k: t.get(k, "") for k in ("key", "value", "effect")} for t in found.get("taints") or ()],
            "resources": [{"autoscalingGroups": autoscaling}],
            "status": found["status"],
            "amiType": found.get("amiType", ""),
            "capacityType": found.get("capacityType", ""),
            "version": found.get("version", ""),
            "releaseVersion": found.get("releaseVersion", ""),
            "tagsAll": found.get("tags") or {},
        }
        template = found.get("launchTemplate")
        if template:
            state["launchTemplate"] = {key: template[key] for key in ("id", "name", "version") if template.get(key)}
        else:
            state["instanceTypes"] = found.get("instanceTypes") or []
        return state

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cluster, _, group = name.partition(":")
        cloud.until_free(self.client(cloud).delete_nodegroup, clusterName=cluster, nodegroupName=group)


def _template(inputs: Properties) -> dict[str, str]:
    template = inputs["launchTemplate"]
    # AWS takes the id or the name, not both.
    by = "id" if template.get("id") else "name"
    return {by: template[by], "version": str(template["version"])}


def _scaling(config: Properties) -> dict[str, int]:
    return {key: int(config[key]) for key in ("desiredSize", "minSize", "maxSize")}


def _taints(inputs: Properties) -> list[dict[str, str]]:
    return [{k: t[k] for k in ("key", "value", "effect") if t.get(k)} for t in inputs.get("taints") or ()]


class Addon(RecordedHandler):
    type = "aws:eks/addon:Addon"
    simulated = LACKING.format("add-ons")

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        return f"{inputs['clusterName']}:{inputs['addonName']}"

    def outputs(self, cloud: Cloud, name: str, inputs: Properties) -> Properties:
        return {"arn": cloud.arn("eks", f"addon/{inputs['clusterName']}/{inputs['addonName']}")}


class AccessEntry(RecordedHandler):
    type = "aws:eks/accessEntry:AccessEntry"
    simulated = LACKING.format("access entries")

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        return f"{inputs['clusterName']}:{inputs['principalArn']}"

    def outputs(self, cloud: Cloud, name: str, inputs: Properties) -> Properties:
        return {"accessEntryArn": cloud.arn("eks", f"access-entry/{inputs['clusterName']}/{inputs['principalArn']}")}


class AccessPolicyAssociation(RecordedHandler):
    type = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
    simulated = LACKING.format("access policies")

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        return f"{inputs['clusterName']}#{inputs['principalArn']}#{inputs['policyArn']}"


class PodIdentityAssociation(RecordedHandler):
    type = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
    simulated = LACKING.format("pod identities")

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        # One association for each service account: the same one always has the same id.
        account = f"{inputs['clusterName']},{inputs['namespace']},{inputs['serviceAccount']}"
        return f"a-{hashlib.sha256(account.encode()).hexdigest()[:17]}"

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        return name.rpartition(",")[2], {}

    def outputs(self, cloud: Cloud, name: str, inputs: Properties) -> Properties:
        arn = cloud.arn("eks", f"podidentityassociation/{inputs['clusterName']}/{name}")
        return {"associationId": name, "associationArn": arn}
