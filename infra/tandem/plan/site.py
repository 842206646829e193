"""What a serving plan takes from the other stacks of its site and from facts, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tandem.config.base import Colour, NodeClass


@dataclass(frozen=True)
class ClassNodes:
    """The nodes of one class, one node's numbers."""

    node_class: NodeClass
    instance_type: str
    accelerator: str
    capability: int
    """Compute capability: 90 is 9.0."""
    gpus: int
    gpu_memory_gib: float
    """Of one GPU."""
    vcpus: int
    memory_gib: float
    network_gbps: float
    """Of the whole node, EFA included."""
    efa_interfaces: int
    nodes_max: int
    """Nodes that the cluster stack lets the group have, over all its groups of the class."""


@dataclass(frozen=True)
class ServingSite:
    """Everything outside its own file that decides what a serving stack looks like."""

    nodes: Mapping[NodeClass, ClassNodes]
    """Compute and bandwidth; a class that the cluster stack does not have is missing."""
    repositories: Mapping[str, str]
    """Image name -> repository URL without a tag."""
    weights_bucket: str
    zone_id: str | None
    """AZ id of the KV domain; None where the cluster's nodes are not told apart by it."""
    vpc_cidr: str
    edge_cidrs: tuple[str, ...]
    """Subnets that the edge's load balancer calls the gateways from."""
    gateway_port: int
    """Port between edge and gateway that the network stack's rules open."""
    target_groups: Mapping[Colour, str]
    """ARN of each colour's target group."""
