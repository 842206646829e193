"""The `network` stack as a person writes it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field, field_validator

from tandem import limits
from tandem.config.base import StackBase, Strict
from tandem.config.cidr import PrivateCidr, network
from tandem.config.patterns import shaped
from tandem.errors import Fault
from tandem.facts.regions import regions
from tandem.units import Days, Port

ZoneId = Annotated[
    str, shaped(r"[a-z]+\d-az\d", "must be an AZ id; a name such as us-east-1a is another place elsewhere", "use1-az4")
]
"""An availability zone by id (`use1-az4`), not by name (`us-east-1a`): names mean another place in every account."""


class Vpc(Strict):
    """The site's address range."""

    cidr: PrivateCidr
    """Prefix /16 to /18: every zone gets a private subnet of a sixteenth of it."""
    reserved: tuple[PrivateCidr, ...] = ()
    """Ranges inside `cidr` that no subnet may use, because something else has their addresses."""
    peers: tuple[PrivateCidr, ...] = ()
    """Ranges of the sites and offices that this one is, or will be, joined to. They must not overlap it."""

    @field_validator("cidr")
    @classmethod
    def _size(cls, value: str) -> str:
        prefix = network(value).prefixlen
        if not limits.VPC_PREFIX_MIN <= prefix <= limits.VPC_PREFIX_MAX:
            low, high = limits.VPC_PREFIX_MIN, limits.VPC_PREFIX_MAX
            rule = f"must be a /{low} to /{high}, so that a zone's nodes and their pods have addresses enough"
            raise ValueError(f"{rule} | Write a /{low}")
        return value


class NoNat(Strict):
    """Private subnets have no way out, but for S3."""

    kind: Literal["none"]


class NatGateways(Strict):
    """Private subnets reach the Internet through NAT gateways: each costs by the hour and by the byte."""

    kind: Literal["gateways"]
    per: Literal["zone", "vpc"] = "zone"
    """`zone`: one each, and a zone that fails takes only its own way out. `vpc`: one for all, in the KV zone."""


class FlowLogs(Strict):
    """Accepted and refused connections, written to a bucket of the stack."""

    retention: Days = 90
    """Days until they are deleted."""


class NetworkStack(StackBase):
    """VPC, subnets, ways out, the security groups and each of their rules."""

    kind: Literal["network"]
    vpc: Vpc
    zones: tuple[ZoneId, ...]
    """AZ ids, in an order that is never changed, only added to: a zone's place in it decides its subnets."""
    kv_zone: ZoneId
    """The zone of the KV domain: KV goes from prefill to decode inside one zone only."""
    nat: Annotated[NoNat | NatGateways, Field(discriminator="kind")]
    flow_logs: FlowLogs | None = None
    """None: no flow logs."""
    gateway_port: Port = limits.GATEWAY_PORT
    """Port between edge and gateways; the serving stack's `gateway.listen_port` must be it."""
    disposable: bool = False
    """True: `down` also deletes the flow logs."""

    @field_validator("zones")
    @classmethod
    def _two(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) < 2:
            raise ValueError("the control plane and the load balancer need two zones | Add one")
        return value

    def faults(self, at: str) -> Iterator[Fault]:
        """What the fields contradict between one another; `at` names the stack in messages."""
        yield from self._zone_faults(at)
        yield from self._range_faults(at)

    def _zone_faults(self, at: str) -> Iterator[Fault]:
        for index, zone in enumerate(self.zones):
            if zone in self.zones[:index]:
                yield Fault(f"{at}.zones[{index}]", zone, "stands in the list twice", "Remove one")
        if self.kv_zone not in self.zones:
            fix = f"Write one of: {', '.join(self.zones)}"
            yield Fault(f"{at}.kv_zone", self.kv_zone, "the KV domain's zone must be one of `zones`", fix)
        region = regions().get(self.site.region)
        if region is None:
            known = ", ".join(regions())
            yield Fault(f"{at}.site.region", self.site.region, "not a region that Tandem knows", f"One of: {known}")
            return
        for index, zone in enumerate(self.zones):
            if not region.has_zone(zone):
                rule = f"not a zone of {region.name}, whose AZ ids begin with {region.zone_id_prefix}-az"
                yield Fault(f"{at}.zones[{index}]", zone, rule, "Name zones of the site's region")
        hosts = [zone for zone in self.zones if zone not in region.zones_without_control_plane]
        if len(set(hosts)) < 2:
            without = ", ".join(sorted(region.zones_without_control_plane))
            rule = f"EKS needs two zones for its control plane, and puts none in {without or 'fewer'}"
            yield Fault(f"{at}.zones", ", ".join(self.zones), rule, "Name another zone")

    def _range_faults(self, at: str) -> Iterator[Fault]:
        own = network(self.vpc.cidr)
        for index, block in enumerate(self.vpc.reserved):
            if not network(block).subnet_of(own):
                rule = f"a reserved range lies inside the VPC's own {own}"
                yield Fault(f"{at}.vpc.reserved[{index}]", block, rule, "Remove it: outside, it needs no reserving")
        for index, block in enumerate(self.vpc.peers):
            if network(block).overlaps(own):
                rule = f"overlaps the VPC's {own}: addresses of the two could not be told apart"
                yield Fault(f"{at}.vpc.peers[{index}]", block, rule, "Give the VPC another range")
        for name, blocks in (("reserved", self.vpc.reserved), ("peers", self.vpc.peers)):
            for (_, first), (index, second) in combinations(enumerate(blocks), 2):
                if network(first).overlaps(network(second)):
                    rule = f"overlaps {first}, which the list holds already"
                    yield Fault(f"{at}.vpc.{name}[{index}]", second, rule, "Remove one, or correct it")
