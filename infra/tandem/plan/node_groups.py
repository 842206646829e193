"""Node groups: interfaces, labels, taints, disks, sizes.

The network interfaces are the difficulty. The first one (card 0, device 0) carries the node's addresses and can be no
EFA-only device; each EFA device is one more interface on its own card, takes no address, and belongs to the EFA group
alone, whose members are matched by group and not by address. Neither a subnet nor a public address may be written: EKS
gives the one, and more than one interface forbids the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tandem import limits
from tandem.config.base import NodeClass
from tandem.config.cluster import CapacityBlock, NodeGroupConfig, Reservation
from tandem.facts import efa
from tandem.facts.instances import Instance, instances
from tandem.plan.pods import NODE_CLASS_LABEL
from tandem.plan.ports import Group

EFA_LABEL: Final = "tandem.dev/efa"
"""On nodes that have EFA devices: the EFA device plugin crashes on any other."""

CLASS_GROUP: Final = {
    NodeClass.SYSTEM: Group.GATEWAY,
    NodeClass.COMPUTE: Group.PREFILL,
    NodeClass.BANDWIDTH: Group.DECODE,
}
"""The security group of the role that runs on each class."""

NODE_CONFIG: Final = """\
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="tandem"

--tandem
Content-Type: application/node.eks.aws

apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0

--tandem--
"""
"""Puts images and pods on the local disks. Without it they lie on the root volume, thirty times slower."""


@dataclass(frozen=True)
class InterfacePlan:
    """One network interface of a node."""

    card: int
    device: int
    kind: Literal["interface", "efa-only"]
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class TaintPlan:
    """Keeps pods off a node that do not tolerate it."""

    key: str
    value: str
    effect: Literal["NO_SCHEDULE"]


@dataclass(frozen=True)
class NodeGroupPlan:
    """One node group and its launch template."""

    name: str
    node_class: NodeClass
    instance: Instance
    zone_ids: tuple[str, ...]
    ami_type: str
    ami_release: str | None
    nodes_min: int
    nodes_max: int
    nodes: int
    labels: dict[str, str]
    taints: tuple[TaintPlan, ...]
    interfaces: tuple[InterfacePlan, ...]
    root_volume_gib: int
    root_volume_mibps: int
    node_config: str | None
    """User data; None where the node needs none."""
    reservation_id: str | None
    capacity_type: Literal["ON_DEMAND", "CAPACITY_BLOCK"]
    update_strategy: Literal["DEFAULT", "MINIMAL"]

    @property
    def efa_interfaces(self) -> int:
        """EFA devices of a node."""
        return sum(interface.kind == "efa-only" for interface in self.interfaces)


def plan_node_group(name: str, config: NodeGroupConfig, zone_ids: tuple[str, ...]) -> NodeGroupPlan:
    """One node group in the given zones. Its instance type must have been judged before."""
    instance = instances()[config.instance_type]
    has_gpu = instance.accelerator is not None
    interfaces = plan_interfaces(config)
    labels = {NODE_CLASS_LABEL: config.node_class.value}
    if any(interface.kind == "efa-only" for interface in interfaces):
        labels[EFA_LABEL] = "true"
    taint = TaintPlan(NODE_CLASS_LABEL, config.node_class.value, "NO_SCHEDULE")
    reserved = config.capacity if isinstance(config.capacity, Reservation | CapacityBlock) else None
    return NodeGroupPlan(
        name=name,
        node_class=config.node_class,
        instance=instance,
        zone_ids=zone_ids,
        ami_type="AL2023_x86_64_NVIDIA" if has_gpu else "AL2023_x86_64_STANDARD",
        ami_release=config.ami_release,
        nodes_min=config.nodes_min,
        nodes_max=config.nodes_max,
        nodes=config.nodes,
        labels=labels,
        taints=() if config.node_class is NodeClass.SYSTEM else (taint,),
        interfaces=interfaces,
        root_volume_gib=config.root_volume,
        root_volume_mibps=limits.ROOT_VOLUME_MIBPS,
        node_config=NODE_CONFIG if has_gpu and instance.nvme_gb else None,
        reservation_id=reserved.id if reserved else None,
        capacity_type="CAPACITY_BLOCK" if isinstance(reserved, CapacityBlock) else "ON_DEMAND",
        # A surge node of a GPU type, or beyond a reservation, mostly does not exist: the update would wait for it for ever.
        update_strategy="MINIMAL" if has_gpu or reserved else "DEFAULT",
    )


def plan_interfaces(config: NodeGroupConfig) -> tuple[InterfacePlan, ...]:
    """The interfaces of a node, the one with its addresses first."""
    first = InterfacePlan(0, 0, "interface", (Group.NODES, CLASS_GROUP[config.node_class]))
    layout = efa.layouts().get(config.instance_type) if config.efa else None
    if layout is None or config.node_class is NodeClass.SYSTEM:
        return (first,)
    on_first = (InterfacePlan(0, 1, "efa-only", (Group.EFA,)),) if layout.first_card_has_device else ()
    others = (InterfacePlan(card, 0, "efa-only", (Group.EFA,)) for card in range(1, layout.network_cards))
    return (first, *on_first, *others)
