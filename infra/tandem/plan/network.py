"""A network stack, planned: subnets, ways out, rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tandem.config.network import NatGateways, NetworkStack
from tandem.errors import PlanError
from tandem.facts.regions import regions
from tandem.plan import names, ports, subnets
from tandem.plan.ports import Rule
from tandem.plan.subnets import SubnetPlan


@dataclass(frozen=True)
class FlowLogsPlan:
    """Where flow logs go."""

    bucket: str
    retention_days: int
    disposable: bool


@dataclass(frozen=True)
class NetworkPlan:
    """Everything a network stack makes."""

    prefix: str
    """What Name tags begin with."""
    region: str
    cidr: str
    subnets: tuple[SubnetPlan, ...]
    control_plane_zones: tuple[str, ...]
    """Zones whose control-plane subnets EKS accepts."""
    nat_zones: tuple[str, ...]
    """Zones that get a NAT gateway, in their public subnet."""
    way_out: Mapping[str, str]
    """Zone -> the zone whose NAT gateway it uses. A zone that is not here has no way out."""
    flow_logs: FlowLogsPlan | None
    rules: tuple[Rule, ...]
    gateway_port: int
    kv_zone_id: str


def plan_network(stack: NetworkStack, at: str) -> NetworkPlan:
    """The stack's network; `at` names the stack in messages. Raises `PlanError` with every fault."""
    faults = [
        *subnets.slot_faults(stack.vpc, stack.zones, at),
        *ports.double_use(stack.gateway_port, f"{at}.gateway_port"),
    ]
    if faults:
        raise PlanError(faults)
    nat_zones: tuple[str, ...] = ()
    if isinstance(stack.nat, NatGateways):
        nat_zones = stack.zones if stack.nat.per == "zone" else (stack.kv_zone,)
    logs = stack.flow_logs
    unusable = regions()[stack.site.region].zones_without_control_plane
    return NetworkPlan(
        prefix=names.prefix(stack),
        region=stack.site.region,
        cidr=stack.vpc.cidr,
        subnets=tuple(
            subnet
            for subnet in subnets.plan_subnets(stack.vpc, stack.zones)
            if subnet.use != "control-plane" or subnet.zone_id not in unusable
        ),
        control_plane_zones=tuple(zone for zone in stack.zones if zone not in unusable),
        nat_zones=nat_zones,
        way_out={zone: zone if zone in nat_zones else nat_zones[0] for zone in stack.zones if nat_zones},
        flow_logs=FlowLogsPlan(names.logs_bucket(stack, "flow-logs"), logs.retention, stack.disposable)
        if logs
        else None,
        rules=ports.security_group_rules(stack.gateway_port),
        gateway_port=stack.gateway_port,
        kv_zone_id=stack.kv_zone,
    )
