"""A cluster stack, planned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tandem.config.base import NodeClass
from tandem.config.cidr import network
from tandem.config.cluster import ClusterStack
from tandem.errors import Fault, PlanError
from tandem.plan import names
from tandem.plan.node_groups import NodeGroupPlan, plan_node_group
from tandem.plan.pods import ENGINE_ACCOUNT, NAMESPACE

LOG_TYPES: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
NODE_POLICIES: Final = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)
"""Managed policies of every node. The CNI's is not among them: it belongs to the CNI's own identity."""
CNI_POLICY: Final = "AmazonEKS_CNI_Policy"
BEFORE_NODES: Final = frozenset({"vpc-cni", "kube-proxy", "eks-pod-identity-agent"})
"""Add-ons without which a node never gets ready; the others wait for a node."""


@dataclass(frozen=True)
class IdentityPlan:
    """What a service account's pods may do in AWS."""

    name: str
    namespace: str
    service_account: str
    managed_policy: str | None
    reads_weights: bool


@dataclass(frozen=True)
class ClusterPlan:
    """Everything a cluster stack makes."""

    name: str
    kubernetes_version: str
    support: str
    service_cidr: str
    public_access: tuple[str, ...]
    administrators: tuple[str, ...]
    log_group: str
    log_retention_days: int
    deletion_protection: bool
    control_plane_role: str
    node_role: str
    node_policies: tuple[str, ...]
    identities: tuple[IdentityPlan, ...]
    addons_before_nodes: dict[str, str | None]
    addons_after_nodes: dict[str, str | None]
    node_groups: tuple[NodeGroupPlan, ...]
    kv_zone_id: str


def plan_cluster(
    stack: ClusterStack, *, zones: tuple[str, ...], kv_zone_id: str, vpc_cidr: str, at: str
) -> ClusterPlan:
    """The stack in a network of these zones; `at` names the stack in messages. Raises `PlanError` with every fault."""
    faults = [*_zone_faults(stack, zones, kv_zone_id, at), *_range_faults(stack, vpc_cidr, at)]
    if faults:
        raise PlanError(faults)
    name = names.cluster(stack)
    return ClusterPlan(
        name=name,
        kubernetes_version=stack.kubernetes_version,
        support=stack.support.upper(),
        service_cidr=stack.service_cidr,
        public_access=stack.public_access,
        administrators=stack.administrators,
        log_group=names.cluster_log_group(name),
        log_retention_days=stack.log_retention,
        deletion_protection=stack.deletion_protection,
        control_plane_role=names.role(stack, "cluster"),
        node_role=names.role(stack, "nodes"),
        node_policies=NODE_POLICIES,
        identities=(
            IdentityPlan(names.role(stack, "cni"), "kube-system", "aws-node", CNI_POLICY, reads_weights=False),
            IdentityPlan(names.role(stack, "engine"), NAMESPACE, ENGINE_ACCOUNT, None, reads_weights=True),
        ),
        addons_before_nodes={addon: v for addon, v in stack.addons.items() if addon in BEFORE_NODES},
        addons_after_nodes={addon: v for addon, v in stack.addons.items() if addon not in BEFORE_NODES},
        node_groups=tuple(
            plan_node_group(group_name, group, group.zones or _default_zones(group.node_class, zones, kv_zone_id))
            for group_name, group in sorted(stack.node_groups.items())
        ),
        kv_zone_id=kv_zone_id,
    )


def _default_zones(node_class: NodeClass, zones: tuple[str, ...], kv_zone_id: str) -> tuple[str, ...]:
    return zones if node_class is NodeClass.SYSTEM else (kv_zone_id,)


def _zone_faults(stack: ClusterStack, zones: tuple[str, ...], kv_zone_id: str, at: str) -> Iterator[Fault]:
    for name, group in stack.node_groups.items():
        for index, zone in enumerate(group.zones):
            where = f"{at}.node_groups.{name}.zones[{index}]"
            if zone not in zones:
                yield Fault(where, zone, f"the network stack has no such zone (it has: {', '.join(zones)})", "Name one")
            elif group.node_class is not NodeClass.SYSTEM and zone != kv_zone_id:
                rule = f"GPU nodes stand in the KV domain's zone, which the network stack says is {kv_zone_id}"
                yield Fault(where, zone, rule, "Leave `zones` out")


def _range_faults(stack: ClusterStack, vpc_cidr: str, at: str) -> Iterator[Fault]:
    if network(stack.service_cidr).overlaps(network(vpc_cidr)):
        rule = f"overlaps the VPC's {vpc_cidr}: addresses of Services and of nodes could not be told apart"
        yield Fault(f"{at}.service_cidr", stack.service_cidr, rule, "Choose another range")
