"""Address ranges of a VPC's subnets.

    slot    = VPC prefix + 3     the n-th zone has the n-th free slot
    private = slot's first half  nodes and their pods
    public  = VPC prefix + 8     right behind it: load balancers and NAT gateways
    control = VPC prefix + 11    right behind that: the control plane's interfaces, apart: nodes cannot starve them

The difficulty is that a range can never move: a zone's place in the list alone decides, so adding a zone moves nothing.
A slot that touches a reserved range is skipped as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal

from tandem import limits
from tandem.config.network import Vpc
from tandem.errors import Fault

Use = Literal["public", "private", "control-plane"]
SLOT_BITS = 3
PRIVATE_BITS = 4
PUBLIC_BITS = 8
CONTROL_PLANE_BITS = 11


@dataclass(frozen=True)
class SubnetPlan:
    """One subnet."""

    use: Use
    zone_id: str
    cidr: str

    @property
    def key(self) -> str:
        """Tells it from the others of its VPC."""
        return f"{self.use}-{self.zone_id}"


def plan_subnets(vpc: Vpc, zones: tuple[str, ...]) -> tuple[SubnetPlan, ...]:
    """The subnets of all zones, in the zones' order. Zones beyond the free slots get none; `slot_faults` tells."""
    slots = tuple(_free_slots(vpc))
    return tuple(subnet for zone, slot in zip(zones, slots, strict=False) for subnet in _slot(zone, slot, vpc))


def slot_faults(vpc: Vpc, zones: tuple[str, ...], at: str) -> Iterator[Fault]:
    """Zones for which the VPC has no addresses left."""
    free = len(tuple(_free_slots(vpc)))
    if len(zones) > free:
        rule = f"a VPC has addresses for {1 << SLOT_BITS} zones, less those that reserved ranges touch: {free} are left"
        yield Fault(f"{at}.zones", f"{len(zones)} zones", rule, "Name fewer zones, or reserve less")


def _free_slots(vpc: Vpc) -> Iterator[IPv4Network]:
    reserved = [IPv4Network(block) for block in vpc.reserved]
    for slot in IPv4Network(vpc.cidr).subnets(prefixlen_diff=SLOT_BITS):
        if not any(slot.overlaps(block) for block in reserved):
            yield slot


def _slot(zone: str, slot: IPv4Network, vpc: Vpc) -> Iterator[SubnetPlan]:
    prefix = IPv4Network(vpc.cidr).prefixlen
    private, rest = slot.subnets(new_prefix=prefix + PRIVATE_BITS)
    public, following, *_ = rest.subnets(new_prefix=prefix + PUBLIC_BITS)
    control, *_ = following.subnets(new_prefix=min(prefix + CONTROL_PLANE_BITS, limits.SUBNET_PREFIX_MAX))
    yield SubnetPlan("private", zone, str(private))
    yield SubnetPlan("public", zone, str(public))
    yield SubnetPlan("control-plane", zone, str(control))
