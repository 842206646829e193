"""Regions and their availability zones by id. Source and date stand in `data/regions.json`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tandem.facts.tables import document


@dataclass(frozen=True)
class RegionFacts:
    """One region."""

    name: str
    zone_id_prefix: str
    """What its AZ ids begin with: `use1` of `use1-az4`."""
    zones_without_control_plane: frozenset[str]
    """AZ ids in which EKS puts no network interfaces of a control plane."""

    def has_zone(self, zone_id: str) -> bool:
        """Whether an AZ id is written as this region's are. Which of them an account has, only the account knows."""
        prefix, _, number = zone_id.partition("-az")
        return prefix == self.zone_id_prefix and number.isdigit()


@cache
def regions() -> MappingProxyType[str, RegionFacts]:
    """All regions by name."""
    rows = (
        RegionFacts(row["name"], row["zone_id_prefix"], frozenset(row["zones_without_control_plane"]))
        for row in document("regions")["regions"]
    )
    return MappingProxyType({row.name: row for row in rows})
