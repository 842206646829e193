"""Nodes follow node groups: none too many, none too few, and no two share an address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network

from hypothesis import given
from hypothesis import strategies as st
from local.kubernetes.node import Node, kubelet_configuration, new_node, rows
from local.kubernetes.node_groups import InstanceSize, NodeGroup, Subnet
from local.kubernetes.nodes import adjust
from local.paths import RegionPaths
from local.processes import start_waves
from local.regions import Region
from local.settings import Settings

VPC = IPv4Network("10.200.0.0/16")
HOME = Region("us-east-1", 0)
ONE = Subnet("subnet-1", IPv4Network("10.200.16.0/20"), VPC, "us-east-1a", "use1-az4")
TWO = Subnet("subnet-2", IPv4Network("10.200.32.0/20"), VPC, "us-east-1b", "use1-az6")


def group(name: str, desired: int, kind: str = "g6e.12xlarge", subnets: tuple[Subnet, ...] = (ONE,)) -> NodeGroup:
    return NodeGroup(
        region="us-east-1",
        cluster="c",
        name=name,
        desired=desired,
        instance_type=kind,
        size=InstanceSize(48, 384 << 30, 4),
        efa_devices=0,
        subnets=subnets,
        labels=(("tandem.dev/node-class", name),),
        taints=(("tandem.dev/node-class", name, "NoSchedule"),),
        capacity_type="ON_DEMAND",
    )


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=6))
def test_each_group_has_as_many_nodes_as_it_wants_and_addresses_are_unique(steps: list[tuple[int, int]]) -> None:
    nodes: list[Node] = []
    for compute, bandwidth in steps:
        groups = [group("compute", compute), group("bandwidth", bandwidth, subnets=(ONE, TWO))]
        nodes, leaving, complaints = adjust(nodes, groups, 1.0)
        assert not complaints
        for wanted in groups:
            assert sum(1 for node in nodes if node.group == wanted.key) == wanted.desired
        everyone = [*nodes, *leaving]
        assert len({node.address for node in everyone}) == len(everyone), "an address belongs to one node"
        assert len({node.pods for node in everyone}) == len(everyone), "a pod range belongs to one node"
        for node in everyone:
            block = IPv4Network(node.pods)
            assert not any(IPv4Address(other.address) in block for other in everyone), (
                "no node's address lies in a pod range"
            )


def test_a_group_that_shrinks_keeps_its_oldest_nodes() -> None:
    nodes, _, _ = adjust([], [group("compute", 3)], 1.0)
    fewer, leaving, _ = adjust(nodes, [group("compute", 1)], 2.0)
    assert fewer == nodes[:1]
    assert leaving == nodes[1:]


def test_what_a_going_node_holds_is_given_to_nobody() -> None:
    (going,), _, _ = adjust([], [group("compute", 1)], 1.0)
    (new,), _, _ = adjust([], [group("compute", 1)], 2.0, [going])
    assert new.address != going.address
    assert new.pods != going.pods


def test_another_instance_type_means_another_node() -> None:
    nodes, _, _ = adjust([], [group("compute", 1)], 1.0)
    after, leaving, _ = adjust(nodes, [group("compute", 1, kind="p5en.48xlarge")], 2.0)
    assert leaving == nodes
    assert [node.instance_type for node in after] == ["p5en.48xlarge"]


def test_a_group_that_is_gone_loses_all_its_nodes() -> None:
    nodes, _, _ = adjust([], [group("compute", 2)], 1.0)
    assert adjust(nodes, [], 2.0)[:2] == ([], nodes)


def test_a_full_subnet_is_a_complaint_and_no_crash() -> None:
    nodes, _, complaints = adjust([], [group("compute", 200)], 1.0)
    assert len(nodes) == 31
    assert "has no room" in complaints[0]


def test_a_node_survives_its_record(tmp_path: object) -> None:
    node = new_node(group("compute", 1), 0, [], 1.0)
    assert Node.from_json({**node.as_json(), "state": "wanted"}) == node


def test_the_kubelet_registers_with_the_groups_labels_and_taints() -> None:
    from pathlib import Path

    from local.binaries import Binaries

    node = new_node(group("compute", 1), 0, [], 1.0)
    table = list(
        rows(node, Binaries(Path("/kube"), Path("/coredns")), RegionPaths(Path("/run/tandem")), HOME, Settings())
    )
    assert len(start_waves(table)) == 4, "world, runtime, kubelet, devices: one after the other"
    kubelet = next(row for row in table if row.name.startswith("kubelet-"))
    labels = next(word for word in kubelet.argv if word.startswith("--node-labels="))
    assert "tandem.dev/node-class=compute" in labels
    assert "topology.k8s.aws/zone-id=use1-az4" in labels
    assert "--simulated-cores=48" in kubelet.argv
    configuration = kubelet_configuration(node, Path("/n"), Path("/pki"), user_namespace=False)
    assert configuration["registerWithTaints"] == [
        {"key": "tandem.dev/node-class", "value": "compute", "effect": "NoSchedule"}
    ]
    assert configuration["authentication"]["anonymous"] == {"enabled": False}
    devices = next(row for row in table if row.name.startswith("devices-"))
    assert "nvidia.com/gpu=4" in devices.argv
