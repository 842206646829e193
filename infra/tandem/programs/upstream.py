"""What a stack reads from the stacks that it uses.

In a preview, a stack that was not applied yet is read from its own file, with placeholders for what only AWS can know, so
that a whole environment can be previewed, and judged, before any of it exists.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pulumi

from tandem.config.base import Colour
from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.load import load_stack
from tandem.config.network import NetworkStack
from tandem.config.registry import RegistryStack
from tandem.outputs import contract
from tandem.outputs.cluster import ClusterOutputs, NodeGroup
from tandem.outputs.contract import Contract, NotApplied
from tandem.outputs.edge import EdgeOutputs
from tandem.outputs.network import NetworkOutputs, Subnet
from tandem.outputs.registry import RegistryOutputs
from tandem.plan.cluster import plan_cluster
from tandem.plan.edge import plan_edge
from tandem.plan.network import plan_network
from tandem.plan.node_groups import NodeGroupPlan
from tandem.plan.ports import Group
from tandem.plan.registry import plan_registry

UNKNOWN = "not-applied-yet"
"""Stands where AWS chooses a part of an identifier."""

C = TypeVar("C", bound=Contract)
S = TypeVar("S", NetworkStack, RegistryStack, ClusterStack, EdgeStack)


def network(name: str) -> NetworkOutputs:
    """The network stack's outputs. Raises `PlanError` where there are none and this is no preview."""
    return _read(NetworkOutputs, name, lambda: _network(name))


def registry(name: str) -> RegistryOutputs:
    """The registry stack's outputs. Raises `PlanError` where there are none and this is no preview."""
    return _read(RegistryOutputs, name, lambda: _registry(name))


def cluster(name: str) -> ClusterOutputs:
    """The cluster stack's outputs. Raises `PlanError` where there are none and this is no preview."""
    return _read(ClusterOutputs, name, lambda: _cluster(name))


def edge(name: str) -> EdgeOutputs:
    """The edge stack's outputs. Raises `PlanError` where there are none and this is no preview."""
    return _read(EdgeOutputs, name, lambda: _edge(name))


def _read(model: type[C], name: str, from_file: Callable[[], C]) -> C:
    try:
        return contract.read(model, name)
    except NotApplied:
        if not pulumi.runtime.is_dry_run():
            raise
        pulumi.log.warn(f"{name}: was not applied yet - this preview shows `{UNKNOWN}` where AWS chooses an identifier")
        return from_file()


def _network(name: str) -> NetworkOutputs:
    plan = plan_network(_load(NetworkStack, name), name)
    return NetworkOutputs(
        version=NetworkOutputs.VERSION,
        vpc_id=f"vpc-{UNKNOWN}",
        vpc_cidr=plan.cidr,
        kv_zone_id=plan.kv_zone_id,
        subnets=tuple(
            Subnet(id=f"subnet-{UNKNOWN}-{subnet.key}", use=subnet.use, zone_id=subnet.zone_id, cidr=subnet.cidr)
            for subnet in plan.subnets
        ),
        security_groups={group.value: f"sg-{UNKNOWN}-{group}" for group in Group},
        gateway_port=plan.gateway_port,
    )


def _registry(name: str) -> RegistryOutputs:
    plan = plan_registry(_load(RegistryStack, name))
    place = f"{plan.region}:{plan.account_id}"
    host = f"{plan.account_id}.dkr.ecr.{plan.region}.amazonaws.com"
    return RegistryOutputs(
        version=RegistryOutputs.VERSION,
        weights_bucket=plan.weights_bucket,
        weights_bucket_arn=f"arn:aws:s3:::{plan.weights_bucket}",
        kms_key_arn=f"arn:aws:kms:{place}:key/{UNKNOWN}",
        repositories={image: f"{host}/{repository}" for image, repository in plan.repositories.items()},
        api_keys_secret_arn=f"arn:aws:secretsmanager:{place}:secret:{plan.api_keys_secret}-{UNKNOWN}",
        api_keys_secret_name=plan.api_keys_secret,
    )


def _cluster(name: str) -> ClusterOutputs:
    stack = _load(ClusterStack, name)
    net = network(stack.uses["network"])
    zones = tuple(subnet.zone_id for subnet in net.subnets_for("private"))
    plan = plan_cluster(stack, zones=zones, kv_zone_id=net.kv_zone_id, vpc_cidr=net.vpc_cidr, at=name)
    return ClusterOutputs(
        version=ClusterOutputs.VERSION,
        name=plan.name,
        arn=f"arn:aws:eks:{stack.site.region}:{stack.account_id}:cluster/{plan.name}",
        endpoint=f"https://{UNKNOWN}.eks.amazonaws.com",
        ca_data="",
        kubernetes_version=plan.kubernetes_version,
        oidc_issuer=f"https://oidc.eks.{stack.site.region}.amazonaws.com/id/{UNKNOWN}",
        kv_zone_id=plan.kv_zone_id,
        node_groups=tuple(node_group(group, f"{group.name}-{UNKNOWN}") for group in plan.node_groups),
    )


def node_group(plan: NodeGroupPlan, name: str) -> NodeGroup:
    """A node group as the cluster's outputs tell of it."""
    instance = plan.instance
    return NodeGroup(
        name=name,
        node_class=plan.node_class,
        instance_type=instance.type,
        zone_ids=plan.zone_ids,
        vcpus=instance.vcpus,
        memory_gib=instance.memory_gib,
        accelerator=instance.accelerator.name if instance.accelerator else None,
        gpus=instance.gpus,
        efa_interfaces=plan.efa_interfaces,
        nodes_min=plan.nodes_min,
        nodes_max=plan.nodes_max,
    )


def _edge(name: str) -> EdgeOutputs:
    stack = _load(EdgeStack, name)
    net = network(stack.uses["network"])
    plan = plan_edge(stack, gateway_port=net.gateway_port)
    arn = f"arn:aws:elasticloadbalancing:{stack.site.region}:{stack.account_id}"
    return EdgeOutputs(
        version=EdgeOutputs.VERSION,
        domain=plan.domain,
        dns_name=f"{UNKNOWN}.{stack.site.region}.elb.amazonaws.com",
        load_balancer_arn=f"{arn}:loadbalancer/app/edge/{UNKNOWN}",
        security_group_id=net.security_groups[Group.EDGE],
        listener_arn=f"{arn}:listener/app/edge/{UNKNOWN}",
        rule_arn=f"{arn}:listener-rule/app/edge/{UNKNOWN}",
        target_groups={colour: f"{arn}:targetgroup/gateway-{colour}/{UNKNOWN}" for colour in Colour},
        gateway_port=plan.gateway_port,
        health_path=plan.times.health_path,
    )


def _load(kind: type[S], name: str) -> S:
    stack = load_stack(Path(pulumi.get_root_directory()) / "stacks" / f"Pulumi.{name}.yaml")
    if not isinstance(stack, kind):
        raise TypeError(f"{name} is of kind {stack.kind}")
    return stack
