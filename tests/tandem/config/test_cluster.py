"""What a cluster stack's file may say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tandem.stacks import data, faults, only_fault


def cluster(**groups: dict[str, Any]) -> dict[str, Any]:
    """The dev cluster with changes to its node groups."""
    described = data("dev-cluster")
    for name, change in groups.items():
        described["node_groups"][name] = described["node_groups"].get(name, {}) | change
    return described


def test_an_unknown_instance_type_names_the_nearest_of_its_class() -> None:
    fault = only_fault(cluster(bandwidth={"instance_type": "p5en.49xlarge"}))
    assert fault.where == "stacks/Pulumi.test.yaml: tandem:stack.node_groups.bandwidth.instance_type"
    assert fault.fix == "Did you mean p5en.48xlarge?"


def test_a_type_with_slow_memory_cannot_be_of_class_bandwidth() -> None:
    fault = only_fault(cluster(bandwidth={"instance_type": "g6e.48xlarge"}))
    assert fault.rule == "a bandwidth GPU needs 1500 GB/s of memory bandwidth, and L40S has 864"


def test_a_gpu_type_cannot_be_of_class_system() -> None:
    assert "needs no GPU" in only_fault(cluster(system={"instance_type": "g6e.xlarge"})).rule


@pytest.mark.parametrize(("least", "start", "most"), [(3, 3, 2), (1, 4, 2), (2, 1, 4)])
def test_sizes_are_in_order(least: int, start: int, most: int) -> None:
    assert faults(cluster(compute={"nodes_min": least, "nodes": start, "nodes_max": most}))


def test_min_above_max_says_both_ways_out() -> None:
    fault = faults(cluster(compute={"nodes_min": 3, "nodes": 3, "nodes_max": 2}))[0]
    assert (fault.rule, fault.fix) == ("below nodes_min = 3", "Write 3 or more, or lower nodes_min")


def test_a_kv_domain_in_two_zones_is_refused() -> None:
    fault = only_fault(cluster(compute={"zones": ["use1-az4"]}, bandwidth={"zones": ["use1-az6"]}))
    assert "KV does not leave its zone" in fault.rule


def test_efa_of_different_fabrics_is_refused_and_tcp_between_them_is_not() -> None:
    pair = {"compute": {"instance_type": "p5.48xlarge"}, "bandwidth": {"instance_type": "p4de.24xlarge"}}
    assert "do not reach each other" in only_fault(cluster(**pair)).rule
    for group in pair.values():
        group["efa"] = False
    assert faults(cluster(**pair)) == []


def test_groups_of_one_class_are_of_one_type() -> None:
    more = data("dev-cluster")["node_groups"]["compute"] | {"instance_type": "g6e.24xlarge"}
    assert "must be of one type" in only_fault(cluster(more=more)).rule


def test_a_home_site_without_bandwidth_or_system_nodes_is_refused() -> None:
    described = data("dev-cluster")
    for name in ("bandwidth", "system"):
        del described["node_groups"][name]
    rules = [fault.rule for fault in faults(described)]
    assert rules == [
        "needs a node group of class system: DNS, gateways and controllers run there, and the others are tainted",
        "needs a node group of class bandwidth: a home site decodes",
    ]


def test_a_prefill_site_needs_no_bandwidth_nodes() -> None:
    described = data("dev-cluster")
    described["site"]["kind"] = "prefill"
    del described["node_groups"]["bandwidth"]
    assert faults(described) == []


def test_the_api_server_is_never_open_to_everybody() -> None:
    described = data("dev-cluster")
    described["public_access"] = ["0.0.0.0/0"]
    assert "everybody" in only_fault(described).rule


def test_a_missing_reference_names_the_stack_to_add() -> None:
    described = data("dev-cluster")
    del described["uses"]["registry"]
    assert only_fault(described).fix == "Add `registry: dev-registry`"


def test_a_version_without_quotes_is_refused() -> None:
    described = data("dev-cluster")
    described["kubernetes_version"] = 1.35
    assert only_fault(described).where.endswith("kubernetes_version")


def test_capacity_is_taken_by_id_only() -> None:
    good = cluster(compute={"capacity": {"kind": "reservation", "id": "cr-0123456789abcdef0"}})
    assert faults(good) == []
    assert only_fault(cluster(compute={"capacity": {"kind": "reservation"}})).rule == "this key is required"
