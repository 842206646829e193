"""Node groups and their network interfaces."""

from __future__ import annotations

import pytest
from tandem.config.base import NodeClass
from tandem.config.cluster import NodeGroupConfig
from tandem.facts import efa
from tandem.facts.instances import instances
from tandem.plan.node_groups import EFA_LABEL, plan_interfaces, plan_node_group
from tandem.plan.pods import NODE_CLASS_LABEL
from tandem.plan.ports import Group


def group(instance_type: str, node_class: NodeClass = NodeClass.COMPUTE, **more: object) -> NodeGroupConfig:
    """A group of one node."""
    described = {"node_class": node_class, "instance_type": instance_type, "nodes_min": 1, "nodes": 1, "nodes_max": 1}
    return NodeGroupConfig.model_validate(described | more)


@pytest.mark.parametrize("instance_type", sorted(efa.layouts()))
def test_a_node_has_every_efa_device_of_its_type_on_a_card_of_its_own(instance_type: str) -> None:
    first, *others = plan_interfaces(group(instance_type))
    assert (first.card, first.device, first.kind) == (0, 0, "interface"), "the primary one carries the addresses"
    assert all((other.kind, other.groups) == ("efa-only", (Group.EFA,)) for other in others)
    assert len(others) == instances()[instance_type].efa_interfaces
    cards = [other.card for other in others]
    assert len(set(cards)) == len(cards), "one EFA device a card"
    places = [(interface.card, interface.device) for interface in (first, *others)]
    assert len(set(places)) == len(places)


def test_the_first_card_of_p6_b300_carries_no_efa_device() -> None:
    cards = [interface.card for interface in plan_interfaces(group("p6-b300.48xlarge"))]
    assert cards == list(range(17))


def test_switching_efa_off_leaves_one_interface_and_no_label() -> None:
    plan = plan_node_group("compute", group("p5.48xlarge", efa=False), ("use1-az4",))
    assert len(plan.interfaces) == 1
    assert EFA_LABEL not in plan.labels
    assert plan.efa_interfaces == 0


@pytest.mark.parametrize("node_class", [NodeClass.COMPUTE, NodeClass.BANDWIDTH])
def test_gpu_nodes_are_tainted_by_their_class(node_class: NodeClass) -> None:
    plan = plan_node_group("x", group("p5en.48xlarge", node_class), ("use1-az4",))
    assert [(t.key, t.value, t.effect) for t in plan.taints] == [(NODE_CLASS_LABEL, node_class.value, "NO_SCHEDULE")]
    assert plan.labels[NODE_CLASS_LABEL] == node_class.value
    assert plan.ami_type == "AL2023_x86_64_NVIDIA"
    assert plan.update_strategy == "MINIMAL", "there is no spare GPU node to surge with"


def test_system_nodes_take_any_pod() -> None:
    plan = plan_node_group("system", group("m7i.2xlarge", NodeClass.SYSTEM), ("use1-az4", "use1-az6"))
    assert plan.taints == ()
    assert plan.ami_type == "AL2023_x86_64_STANDARD"
    assert plan.interfaces[0].groups == (Group.NODES, Group.GATEWAY)


def test_a_capacity_block_is_taken_as_one() -> None:
    block = {"kind": "capacity_block", "id": "cr-0123456789abcdef0"}
    plan = plan_node_group("compute", group("p5.48xlarge", capacity=block), ("use1-az4",))
    assert (plan.capacity_type, plan.reservation_id) == ("CAPACITY_BLOCK", "cr-0123456789abcdef0")


def test_local_disks_are_used_where_a_gpu_type_has_them() -> None:
    assert "RAID0" in (plan_node_group("x", group("p5.48xlarge"), ("z",)).node_config or "")
    assert plan_node_group("x", group("m7i.2xlarge", NodeClass.SYSTEM), ("z",)).node_config is None


def test_a_group_on_a_reservation_is_updated_without_nodes_beyond_it() -> None:
    reserved = {"kind": "reservation", "id": "cr-0123456789abcdef0"}
    plan = plan_node_group("system", group("m7i.2xlarge", NodeClass.SYSTEM, capacity=reserved), ("use1-az4",))
    assert plan.update_strategy == "MINIMAL"
    assert plan_node_group("system", group("m7i.2xlarge", NodeClass.SYSTEM), ("use1-az4",)).update_strategy == "DEFAULT"
