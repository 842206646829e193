"""Tags in the forms that AWS's services give and take them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def as_pairs(tags: Mapping[str, str] | None) -> list[dict[str, str]]:
    """`[{"Key", "Value"}]`, as most services take them."""
    return [{"Key": key, "Value": value} for key, value in sorted((tags or {}).items())]


def from_pairs(pairs: Iterable[Mapping[str, str]] | None) -> dict[str, str]:
    """The inverse. Also reads KMS's `TagKey` and `TagValue`."""
    return {pair.get("Key") or pair["TagKey"]: pair.get("Value", pair.get("TagValue", "")) for pair in pairs or ()}
