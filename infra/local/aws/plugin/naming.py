"""Names for resources that were given none: the logical name and seven hex digits, the same for the same seed."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

from pulumi.runtime.proto import provider_pb2

from local.aws.plugin.handler import Properties

_AUTONAMING_DISABLED = provider_pb2.CheckRequest.AutonamingOptions.DISABLE
_AUTONAMING_ENFORCED = provider_pb2.CheckRequest.AutonamingOptions.ENFORCE
SUFFIX_LENGTH = 7
"""Hex digits the bridge appends; fewer would collide, more would not fit a target group's 32 characters."""


class NoName(Exception):
    """A name is needed and may not or cannot be made up."""


def autoname(rule: dict[str, Any], kind: str, logical_name: str, seed: bytes) -> str:
    """The automatic name of a resource of type `kind`. NoName when it would be longer than the type allows."""
    digest = hashlib.sha256(seed).hexdigest() if seed else secrets.token_hex(SUFFIX_LENGTH)
    name = f"{logical_name}{rule['sep']}{digest[:SUFFIX_LENGTH]}"
    if len(name) > rule["max"]:
        raise NoName(
            f"{name!r} has {len(name)} characters - the automatic name of {kind} may have {rule['max']}. "
            f"Shorten the logical name or set {rule['property']}."
        )
    if kind == "aws:s3/bucket:Bucket":
        return name.lower()
    return f"alias/{name}" if kind == "aws:kms/alias:Alias" else name


def chosen_name(rule: Properties, kind: str, logical_name: str, request: Any, olds: Properties) -> str:
    """The name of a resource that was given none: the one it has, the one that the engine proposes, or an automatic one."""
    if rule["property"] in (olds.get("__defaults") or []) and isinstance(olds.get(rule["property"]), str):
        return str(olds[rule["property"]])
    if request.HasField("autonaming"):
        if request.autonaming.mode == _AUTONAMING_DISABLED:
            raise NoName(f"no name - automatic naming is switched off for this resource. Set {rule['property']}.")
        if request.autonaming.mode == _AUTONAMING_ENFORCED or request.autonaming.proposed_name:
            return str(request.autonaming.proposed_name)
    return autoname(rule, kind, logical_name, request.randomSeed)
