"""What a site costs by the hour on AWS, from the price tables: what runs, not what it carries.

    hour = sum over node groups (nodes x (instance + root volume)) + cluster + NAT gateways + load balancer + keys ...

Bytes and requests come on top; they depend on traffic. A type that is not sold on demand is named, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tandem import limits
from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.network import NatGateways, NetworkStack
from tandem.config.registry import RegistryStack
from tandem.config.stack import Stack
from tandem.facts import prices

GP3_FREE_MIBPS = 125
"""Throughput that a gp3 volume has at no extra price."""


@dataclass(frozen=True)
class CostPart:
    """One line of the bill."""

    stack: str
    name: str
    count: int
    usd_per_hour: float
    """Of all of them together."""


@dataclass(frozen=True)
class CostReport:
    """What a site costs while nobody uses it."""

    parts: tuple[CostPart, ...]
    unknown: tuple[str, ...]
    """What has no price in the tables; it comes on top."""
    region: str
    """Whose prices these are."""
    priced_elsewhere: tuple[str, ...]
    """Regions of stacks whose own prices are not in the tables."""
    date: str

    @property
    def usd_per_hour(self) -> float:
        """All parts together."""
        return round(sum(part.usd_per_hour for part in self.parts), 4)

    def as_line(self) -> str:
        """The sum and what makes it, on one line."""
        largest = sorted(self.parts, key=lambda part: (-part.usd_per_hour, part.name))
        shown = ", ".join(f"{part.count} x {part.name} {part.usd_per_hour:.2f}" for part in largest[:3])
        rest = sum(part.usd_per_hour for part in largest[3:])
        line = f"${self.usd_per_hour:.2f} per hour ({shown}"
        line += f", other {rest:.2f})" if rest else ")"
        line += f"; {self.region} on-demand prices of {self.date}, without traffic"
        if self.unknown:
            line += f"; no on-demand price: {', '.join(self.unknown)}"
        if self.priced_elsewhere:
            line += f"; {', '.join(self.priced_elsewhere)} differs"
        return line

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "usd_per_hour": self.usd_per_hour,
            "parts": [{**vars(part), "usd_per_hour": round(part.usd_per_hour, 4)} for part in self.parts],
            "unknown": list(self.unknown),
            "region": self.region,
            "priced_elsewhere": list(self.priced_elsewhere),
            "date": self.date,
        }


def site_cost(stacks: Mapping[str, Stack]) -> CostReport:
    """What the stacks, by name, cost together."""
    parts: list[CostPart] = []
    unknown: list[str] = []
    for name, stack in sorted(stacks.items()):
        for what, count, each in _priced(stack):
            if each is None:
                unknown.append(f"{count} x {what}")
            elif count:
                parts.append(CostPart(name, what, count, count * each))
    regions = sorted({stack.site.region for stack in stacks.values()})
    return CostReport(
        parts=tuple(parts),
        unknown=tuple(unknown),
        region=prices.region(),
        priced_elsewhere=tuple(region for region in regions if not prices.same_prices(region)),
        date=prices.date(),
    )


def _priced(stack: Stack) -> Iterator[tuple[str, int, float | None]]:
    """What a stack has: name, number, US dollars per hour of one (None: not in the tables)."""
    match stack:
        case ClusterStack():
            yield from _cluster(stack)
        case NetworkStack():
            gateways = 0
            if isinstance(stack.nat, NatGateways):
                gateways = len(stack.zones) if stack.nat.per == "zone" else 1
            yield "NAT gateway", gateways, _hourly("nat_gateway_hour") + _hourly("public_ipv4_hour")
        case EdgeStack():
            yield "load balancer", 1, _hourly("load_balancer_hour")
            # One public address in each of the zones it stands in; AWS asks for two at least.
            yield "load balancer address", 2, _hourly("public_ipv4_hour")
            if stack.firewall is not None:
                yield "web ACL", 1, _monthly("waf_acl_month") + _monthly("waf_rule_month")
        case RegistryStack():
            yield "KMS key", 1, _monthly("kms_key_month")
            yield "secret", 1, _monthly("secret_month")
        case _:
            return


def _cluster(stack: ClusterStack) -> Iterator[tuple[str, int, float | None]]:
    extended = stack.support == "extended"
    yield "EKS cluster", 1, _hourly("eks_cluster_extended_hour" if extended else "eks_cluster_hour")
    for name, group in sorted(stack.node_groups.items()):
        yield f"{group.instance_type} ({name})", group.nodes, prices.instance_usd_per_hour(group.instance_type)
        volume = group.root_volume * _monthly("gp3_gb_month")
        volume += (limits.ROOT_VOLUME_MIBPS - GP3_FREE_MIBPS) * _monthly("gp3_mibps_month")
        yield f"root volume ({name})", group.nodes, volume


def _hourly(name: str) -> float:
    return prices.services()[name].usd


def _monthly(name: str) -> float:
    return prices.services()[name].usd / prices.HOURS_PER_MONTH
