"""Names for resources that were given none: the logical name and seven hex digits, the same for the same seed."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

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
