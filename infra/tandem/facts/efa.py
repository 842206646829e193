"""Elastic Fabric Adapter: how many devices a type has, on which network cards, and which devices reach each other.

EFA crosses neither an AZ nor a VPC, and its packets are matched by security group, never by address.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tandem.facts.tables import document


@dataclass(frozen=True)
class EfaLayout:
    """The network cards of one instance type."""

    type: str
    network_cards: int
    devices: int
    gbps_per_device: float
    first_card_has_device: bool
    """False where the first card carries the node's addresses only."""
    fabric: str
    """Only devices of one fabric reach each other."""


@cache
def layouts() -> MappingProxyType[str, EfaLayout]:
    """The layout of each type that has EFA."""
    rows = (EfaLayout(**row) for row in document("efa")["layouts"])
    return MappingProxyType({row.type: row for row in rows})


def compatible(first: str, second: str) -> bool:
    """Whether EFA devices of the two instance types reach each other. False also where one of them has none."""
    one, other = layouts().get(first), layouts().get(second)
    return one is not None and other is not None and one.fabric == other.fabric
