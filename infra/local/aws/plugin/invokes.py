"""Data sources: what a program may look up instead of create."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable
from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.wire import Secret


class BadArgument(Exception):
    """An argument is wrong; `name` is its wire name."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(reason)
        self.name = name


def _caller_identity(cloud: Cloud, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = cloud.client("sts").get_caller_identity()
    return {
        "id": answer["Account"],
        "accountId": answer["Account"],
        "arn": answer["Arn"],
        "userId": answer["UserId"],
    }


def _partition(cloud: Cloud, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws"}


def _region(cloud: Cloud, arguments: dict[str, Any]) -> dict[str, Any]:
    region = cloud.region
    return {
        "id": region,
        "name": region,
        "region": region,
        "description": region,
        "endpoint": f"ec2.{region}.amazonaws.com",
    }


def _availability_zones(cloud: Cloud, arguments: dict[str, Any]) -> dict[str, Any]:
    zones = cloud.client("ec2").describe_availability_zones()["AvailabilityZones"]
    state = arguments.get("state")
    without_names, without_ids = arguments.get("excludeNames") or [], arguments.get("excludeZoneIds") or []
    kept = [
        zone
        for zone in zones
        if (state is None or zone["State"] == state)
        and zone["ZoneName"] not in without_names
        and zone["ZoneId"] not in without_ids
    ]
    return {
        **arguments,
        "id": cloud.region,
        "region": cloud.region,
        "names": [zone["ZoneName"] for zone in kept],
        "zoneIds": [zone["ZoneId"] for zone in kept],
        "groupNames": sorted({zone.get("GroupName", cloud.region) for zone in kept}),
    }


def _secret_version(cloud: Cloud, arguments: dict[str, Any]) -> dict[str, Any]:
    client = cloud.client("secretsmanager")
    secret_id = arguments.get("secretId")
    if not secret_id:
        raise BadArgument("secretId", "this argument is required. Give the secret's ARN or name.")
    chosen = {
        name: arguments[key]
        for name, key in (("VersionId", "versionId"), ("VersionStage", "versionStage"))
        if arguments.get(key)
    }
    answer = client.get_secret_value(SecretId=secret_id, **chosen)
    binary = answer.get("SecretBinary")
    stages = answer.get("VersionStages", [])
    return {
        "id": f"{secret_id}|{arguments.get('versionId') or arguments.get('versionStage') or 'AWSCURRENT'}",
        "arn": answer["ARN"],
        "region": cloud.region,
        "secretId": secret_id,
        "secretString": Secret(answer.get("SecretString", "")),
        "secretBinary": Secret(base64.b64encode(binary).decode() if binary else ""),
        "versionId": answer["VersionId"],
        "versionStage": arguments.get("versionStage") or "AWSCURRENT",
        "versionStages": stages,
        "createdDate": answer["CreatedDate"].isoformat(),
    }


def _policy_document(cloud: Cloud, arguments: dict[str, Any]) -> dict[str, Any]:
    """The JSON text of a policy. A single value stands alone, as the official provider writes it."""
    document: dict[str, Any] = {"Version": arguments.get("version") or "2012-10-17"}
    if arguments.get("policyId"):
        document["Id"] = arguments["policyId"]
    sources = [json.loads(text) for text in arguments.get("sourcePolicyDocuments") or []]
    statements = [statement for source in sources for statement in _listed(source["Statement"])]
    statements += [_statement(statement) for statement in arguments.get("statements") or []]
    for text in arguments.get("overridePolicyDocuments") or []:
        for statement in _listed(json.loads(text)["Statement"]):
            kept = [old for old in statements if not statement.get("Sid") or old.get("Sid") != statement["Sid"]]
            statements = [*kept, statement]
    document["Statement"] = statements
    text = json.dumps(document, indent=2)
    return {**arguments, "id": str(zlib.crc32(text.encode())), "json": text, "minifiedJson": json.dumps(document)}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _single(values: list[str]) -> Any:
    return values[0] if len(values) == 1 else sorted(values, reverse=True)


def _statement(given: dict[str, Any]) -> dict[str, Any]:
    statement: dict[str, Any] = {}
    if given.get("sid"):
        statement["Sid"] = given["sid"]
    statement["Effect"] = given.get("effect") or "Allow"
    for name, key in (("Action", "actions"), ("NotAction", "notActions"), ("Resource", "resources")):
        if given.get(key):
            statement[name] = _single(given[key])
    if given.get("notResources"):
        statement["NotResource"] = _single(given["notResources"])
    for name, key in (("Principal", "principals"), ("NotPrincipal", "notPrincipals")):
        if given.get(key):
            statement[name] = _principals(given[key])
    conditions: dict[str, dict[str, Any]] = {}
    for condition in given.get("conditions") or []:
        conditions.setdefault(condition["test"], {})[condition["variable"]] = _single(condition["values"])
    if conditions:
        statement["Condition"] = conditions
    return statement


def _principals(given: list[dict[str, Any]]) -> Any:
    if any(entry["type"] == "*" and entry["identifiers"] == ["*"] for entry in given):
        return "*"
    merged: dict[str, list[str]] = {}
    for entry in given:
        merged.setdefault(entry["type"], []).extend(entry["identifiers"])
    return {kind: _single(identifiers) for kind, identifiers in merged.items()}


FUNCTIONS: dict[str, Callable[[Cloud, dict[str, Any]], dict[str, Any]]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": _caller_identity,
    "aws:index/getPartition:getPartition": _partition,
    "aws:index/getRegion:getRegion": _region,
    "aws:index/getAvailabilityZones:getAvailabilityZones": _availability_zones,
    "aws:secretsmanager/getSecretVersion:getSecretVersion": _secret_version,
    "aws:iam/getPolicyDocument:getPolicyDocument": _policy_document,
}
"""Pulumi token of a function -> what computes its result."""
