"""The provider's functions that Tandem uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.wire import Secret

Arguments = dict[str, Any]


class BadArgument(Exception):
    """An argument cannot be used; names it."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


_CHOICES = {"versionId": "VersionId", "versionStage": "VersionStage"}
"""Which of a secret's values: the current one where none is chosen."""


def _secret_version(cloud: Cloud, arguments: Arguments) -> dict[str, Any]:
    secret = arguments.get("secretId")
    if not secret:
        raise BadArgument("secretId", "is required")
    client = cloud.client("secretsmanager")
    chosen = {wire: arguments[key] for key, wire in _CHOICES.items() if arguments.get(key)}
    found = cloud.found(client.get_secret_value, SecretId=secret, **chosen)
    if found is None:
        raise BadArgument("secretId", f"{secret} has no value. Run: tandem secrets put")
    return {
        "id": f"{secret}|{found['VersionId']}",
        "arn": found["ARN"],
        "secretId": secret,
        "secretString": Secret(found.get("SecretString", "")),
        "secretBinary": Secret(""),
        "versionId": found["VersionId"],
        "versionStages": found.get("VersionStages", []),
        "createdDate": "",
        "region": cloud.region,
    }


def _zones(cloud: Cloud, arguments: Arguments) -> dict[str, Any]:
    zones = cloud.client("ec2").describe_availability_zones()["AvailabilityZones"]
    return {
        "id": cloud.region,
        "names": [zone["ZoneName"] for zone in zones],
        "zoneIds": [zone["ZoneId"] for zone in zones],
        "groupNames": [cloud.region],
        "region": cloud.region,
    }


def _identity(cloud: Cloud, arguments: Arguments) -> dict[str, Any]:
    found = cloud.client("sts").get_caller_identity()
    return {"id": found["Account"], "accountId": found["Account"], "arn": found["Arn"], "userId": found["UserId"]}


def _region(cloud: Cloud, arguments: Arguments) -> dict[str, Any]:
    return {"id": cloud.region, "region": cloud.region, "name": cloud.region, "description": "", "endpoint": ""}


def _partition(cloud: Cloud, arguments: Arguments) -> dict[str, Any]:
    return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


FUNCTIONS: dict[str, Callable[[Cloud, Arguments], dict[str, Any]]] = {
    "aws:secretsmanager/getSecretVersion:getSecretVersion": _secret_version,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _zones,
    "aws:index/getCallerIdentity:getCallerIdentity": _identity,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getPartition:getPartition": _partition,
}
