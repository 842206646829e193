"""What AWS charges, on demand. Sources and dates stand in `data/instance_prices.json` and `service_prices.json`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from tandem.facts.tables import document

HOURS_PER_MONTH: Final = 730
"""AWS's own number for a month."""


@dataclass(frozen=True)
class Price:
    """One price of a service."""

    name: str
    usd: float
    per: str
    what: str


@cache
def services() -> MappingProxyType[str, Price]:
    """Prices of services by name."""
    rows = (Price(**row) for row in document("service_prices")["prices"])
    return MappingProxyType({row.name: row for row in rows})


@cache
def _on_demand() -> dict[str, float | None]:
    return {row["type"]: row["usd_per_hour"] for row in document("instance_prices")["prices"]}


def instance_usd_per_hour(instance_type: str) -> float | None:
    """On-demand price of one instance. None where it is not sold on demand, or not listed."""
    return _on_demand().get(instance_type)


def region() -> str:
    """The region that all prices are of."""
    return str(document("instance_prices")["region"])


def same_prices(name: str) -> bool:
    """Whether a region's prices are taken to be the table's."""
    return name in (region(), "us-west-2")


def date() -> str:
    """Day of the instance prices."""
    return str(document("instance_prices")["date"])
