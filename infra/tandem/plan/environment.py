"""Judges an environment's stacks together, from their files alone, before any of them is applied.

Each stack is planned as its program will plan it, with what the stacks that it reads say in their own files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TypeVar

from tandem.config.base import Colour, NodeClass, Role
from tandem.config.cidr import network as address_range
from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.network import NetworkStack
from tandem.config.registry import RegistryStack
from tandem.config.serving import ServingStack
from tandem.config.stack import Stack
from tandem.errors import ConfigError, Fault
from tandem.plan.cluster import plan_cluster
from tandem.plan.edge import plan_edge
from tandem.plan.network import plan_network
from tandem.plan.node_groups import NodeGroupPlan, plan_node_group
from tandem.plan.registry import plan_registry
from tandem.plan.serving import nodes_needed, plan_serving
from tandem.plan.site import ClassNodes, ServingSite
from tandem.plan.subnets import plan_subnets

S = TypeVar("S", NetworkStack, RegistryStack, ClusterStack, EdgeStack, ServingStack)


def environment_faults(stacks: Mapping[str, Stack]) -> list[Fault]:
    """What keeps the stacks, by name, from being built as written.

    Each must be valid on its own, and read only stacks that are given here.
    """
    faults: list[Fault] = []
    for name, stack in stacks.items():
        try:
            _plan(name, stack, stacks)
        except ConfigError as error:
            faults += error.faults
    return [*faults, *_overlaps(stacks)] or list(_room(stacks))


def _plan(name: str, stack: Stack, stacks: Mapping[str, Stack]) -> None:
    at = _at(name)
    match stack:
        case RegistryStack():
            plan_registry(stack)
        case NetworkStack():
            plan_network(stack, at)
        case EdgeStack():
            plan_edge(stack, gateway_port=_used(NetworkStack, stack, stacks).gateway_port)
        case ClusterStack():
            network = _used(NetworkStack, stack, stacks)
            cidr = network.vpc.cidr
            plan_cluster(stack, zones=network.zones, kv_zone_id=network.kv_zone, vpc_cidr=cidr, at=at)
        case ServingStack():
            plan_serving(stack, serving_site(stack, stacks), at)


def serving_site(stack: ServingStack, stacks: Mapping[str, Stack]) -> ServingSite:
    """What the serving stack will read, but for what only AWS can know."""
    network = _used(NetworkStack, stack, stacks)
    registry = plan_registry(_used(RegistryStack, stack, stacks))
    subnets = plan_subnets(network.vpc, network.zones)
    return ServingSite(
        nodes=dict(_classes(_used(ClusterStack, stack, stacks), network.kv_zone)),
        repositories=registry.repositories,
        weights_bucket=registry.weights_bucket,
        zone_id=network.kv_zone,
        vpc_cidr=network.vpc.cidr,
        edge_cidrs=tuple(subnet.cidr for subnet in subnets if subnet.use == "public"),
        gateway_port=network.gateway_port,
        target_groups={colour: f"gateway-{colour}" for colour in Colour},
    )


def _classes(cluster: ClusterStack, zone: str) -> Iterator[tuple[NodeClass, ClassNodes]]:
    for node_class in (NodeClass.COMPUTE, NodeClass.BANDWIDTH):
        groups = [plan_node_group(n, group, (zone,)) for n, group in cluster.groups_of(node_class).items()]
        if groups:
            yield node_class, class_nodes(groups[0], sum(group.nodes_max for group in groups))


def class_nodes(group: NodeGroupPlan, nodes_max: int) -> ClassNodes:
    """The class that a GPU group stands for; all groups of a class are of one type."""
    instance = group.instance
    assert instance.accelerator is not None, "a GPU class has a GPU type"
    return ClassNodes(
        node_class=group.node_class,
        instance_type=instance.type,
        accelerator=instance.accelerator.name,
        capability=instance.accelerator.capability,
        gpus=instance.gpus,
        gpu_memory_gib=instance.accelerator.memory_gib,
        vcpus=instance.vcpus,
        memory_gib=instance.memory_gib,
        network_gbps=instance.network_gbps,
        efa_interfaces=group.efa_interfaces,
        nodes_max=nodes_max,
    )


def _room(stacks: Mapping[str, Stack]) -> Iterator[Fault]:
    """Engines that no node is there for. Nothing adds nodes by itself, so they would wait for ever."""
    for name, stack in stacks.items():
        if not isinstance(stack, ServingStack):
            continue
        cluster = _used(ClusterStack, stack, stacks)
        of_class = dict(_classes(cluster, _used(NetworkStack, stack, stacks).kv_zone))
        for role in Role:
            node_class = stack.cluster(role).node_class
            groups = cluster.groups_of(node_class)
            present = sum(group.nodes for group in groups.values())
            needed = nodes_needed(stack, role, of_class[node_class])
            if needed > present:
                where = f"{_at(stack.uses['cluster'])}.node_groups.{next(iter(groups))}.nodes"
                rule = f"the {role} engines of {name} need {needed} {of_class[node_class].instance_type} nodes"
                yield Fault(where, str(present), rule, f"Write {needed}, or fewer engines or more GPUs each in {name}")


def _overlaps(stacks: Mapping[str, Stack]) -> Iterator[Fault]:
    """Sites of one environment that could never be joined."""
    networks = [(name, stack) for name, stack in stacks.items() if isinstance(stack, NetworkStack)]
    for (first, one), (second, other) in combinations(networks, 2):
        if address_range(one.vpc.cidr).overlaps(address_range(other.vpc.cidr)):
            rule = f"overlaps {one.vpc.cidr} of stacks/Pulumi.{first}.yaml: sites of one environment are joined"
            yield Fault(f"{_at(second)}.vpc.cidr", other.vpc.cidr, rule, "Choose another range")


def _used(kind: type[S], stack: Stack, stacks: Mapping[str, Stack]) -> S:
    for name in stack.uses.values():
        used = stacks[name]
        if isinstance(used, kind):
            return used
    raise AssertionError(f"references were checked before, and {stack.kind} has none to a {kind.__name__}")


def _at(name: str) -> str:
    return f"stacks/Pulumi.{name}.yaml: tandem:stack"
