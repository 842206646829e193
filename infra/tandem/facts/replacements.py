"""Which inputs of a resource force its replacement, and what is missed meanwhile. Source and date stand in `data/replacements.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tandem.facts.tables import document


@dataclass(frozen=True)
class Behaviour:
    """How one resource type changes."""

    force_new: tuple[str, ...]
    """Paths, without list indexes. One that is conditional is among them: better told in vain than not told."""
    deleted_first_with: str
    """The input that, given, lets the old one be deleted before the new one is made; `*`: always; empty: never."""
    new_version_on_update: bool
    """An update in place changes an output that others are made of, so they are updated too."""
    downtime_of_update: str
    downtime_of_replacement: str

    def deleted_first(self, inputs: Mapping[str, Any]) -> bool:
        """Whether a replacement leaves a gap."""
        return self.deleted_first_with == "*" or bool(inputs.get(self.deleted_first_with))


@cache
def behaviour(resource_type: str) -> Behaviour:
    """Of a type; one that the table lacks is taken to be updated in place, but for Kubernetes' names."""
    table = document("replacements")
    row = table["resources"].get(resource_type, {})
    common = table["kubernetes"]["force_new"] if resource_type.startswith("kubernetes:") else []
    told = table["downtime"].get(resource_type, {})
    return Behaviour(
        force_new=(*row.get("force_new", ()), *common),
        deleted_first_with=row.get("deleted_first_with", "*" if common else ""),
        new_version_on_update=row.get("new_version_on_update", False),
        downtime_of_update=told.get("update", ""),
        downtime_of_replacement=told.get("replace", ""),
    )
