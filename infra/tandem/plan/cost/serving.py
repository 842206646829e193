"""What serving costs: nodes by how they are bought, the site's fixed parts, and the bytes that cross zones and regions.

    hour        = sum over pools (nodes x price by purchase) + fixed + GB an hour x price of a GB
    per million = hour / (tokens an hour / 10^6)
    day/night   = hours at night / 24 x the nodes let go at night x price

A Capacity Block or a reservation is paid whether its nodes run or not: idle ones are a part of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tandem.facts import prices
from tandem.plan.cost.site import CostPart

Purchase = Literal["on-demand", "spot", "reserved"]
SPOT_SHARE: Final = 0.5
"""Of the on-demand price; a parameter, at the cautious end of 0.35 to 0.50: no dated source names spot prices."""
NIGHT_HOURS: Final = 10
"""Hours a day that the guides' schedule calls night."""
FIXED: Final = ("eks_cluster_hour", "load_balancer_hour", "nat_gateway_hour")


@dataclass(frozen=True)
class Pool:
    """Nodes of one role."""

    name: str
    instance_type: str
    nodes: int
    purchase: Purchase = "on-demand"
    reservation_id: str | None = None
    """Of a reservation or Capacity Block that the nodes run in: accepted by id, never bought here."""
    reserved_nodes: int = 0
    """Nodes that the reservation holds; those beyond `nodes` are idle and paid."""
    usd_per_hour: float | None = None
    """Price of one node, where it is not the table's: a Capacity Block's."""

    @property
    def price(self) -> float | None:
        """US dollars per hour of one node; None where no table has it."""
        listed = self.usd_per_hour or prices.instance_usd_per_hour(self.instance_type)
        return listed * SPOT_SHARE if listed is not None and self.purchase == "spot" else listed


@dataclass(frozen=True)
class Bill:
    """Money by part."""

    parts: tuple[CostPart, ...]

    @property
    def usd_per_hour(self) -> float:
        """All parts together."""
        return sum(part.usd_per_hour for part in self.parts)

    @property
    def usd_per_month(self) -> float:
        """At AWS's month of 730 hours."""
        return self.usd_per_hour * prices.HOURS_PER_MONTH

    def usd_per_million(self, tokens_per_second: float) -> float:
        """US dollars for a million tokens at this rate; infinite at none."""
        return self.usd_per_hour / (tokens_per_second * 3600 / 1e6) if tokens_per_second > 0 else float("inf")


def bill(pools: Sequence[Pool], *, crossing_gbps: float = 0.0, usd_per_gb: float = 0.0) -> Bill:
    """What the pools cost with the fixed parts of a site. Raises `KeyError` naming a type that no table prices."""
    parts = []
    for pool in pools:
        price = pool.price
        if price is None:
            raise KeyError(pool.instance_type)
        parts.append(CostPart(pool.name, f"{pool.instance_type} {pool.purchase}", pool.nodes, pool.nodes * price))
        idle = max(pool.reserved_nodes - pool.nodes, 0)
        if idle:
            parts.append(CostPart(pool.name, f"idle in {pool.reservation_id}", idle, idle * price))
    parts += [CostPart("site", name, 1, prices.services()[name].usd) for name in FIXED]
    if crossing_gbps > 0:
        gigabytes = crossing_gbps / 8 * 3600
        parts.append(CostPart("link", "KV between sites", 1, gigabytes * usd_per_gb))
    return Bill(tuple(parts))


def night_saving(pool: Pool, share: float = 0.5, hours: float = NIGHT_HOURS) -> float:
    """US dollars per month that running `share` of the pool's nodes at night saves; nothing on reserved nodes."""
    price = pool.price
    if price is None or pool.reservation_id is not None:
        return 0.0
    kept = max(1, -int(-pool.nodes * share // 1)) if pool.nodes else 0
    return (pool.nodes - kept) * price * hours / 24 * prices.HOURS_PER_MONTH
