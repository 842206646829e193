"""A cluster in its network."""

from __future__ import annotations

import pytest
from tandem.config.cluster import ClusterStack
from tandem.config.load import parse_stack
from tandem.errors import PlanError
from tandem.plan.cluster import plan_cluster

from tests.tandem.stacks import data

NETWORK = {"zones": ("use1-az4", "use1-az6"), "kv_zone_id": "use1-az4", "vpc_cidr": "10.20.0.0/16"}


def cluster(**changes: object) -> ClusterStack:
    """The dev cluster with changes."""
    stack = parse_stack(data("dev-cluster") | changes, "test")
    assert isinstance(stack, ClusterStack)
    return stack


def refused(stack: ClusterStack) -> list[str]:
    """The places of all faults."""
    with pytest.raises(PlanError) as caught:
        plan_cluster(stack, **NETWORK, at="x")  # type: ignore[arg-type]
    return [fault.where for fault in caught.value.faults]


def test_gpu_nodes_stand_in_the_kv_zone_and_system_nodes_in_all() -> None:
    plan = plan_cluster(cluster(), **NETWORK, at="x")  # type: ignore[arg-type]
    zones = {group.name: group.zone_ids for group in plan.node_groups}
    assert zones == {"bandwidth": ("use1-az4",), "compute": ("use1-az4",), "system": ("use1-az4", "use1-az6")}


def test_services_and_nodes_never_share_addresses() -> None:
    assert refused(cluster(service_cidr="10.20.0.0/20")) == ["x.service_cidr"]


def test_a_zone_that_is_not_the_networks_or_not_the_domains_is_refused() -> None:
    groups = data("dev-cluster")["node_groups"]
    groups["compute"]["zones"] = ["use1-az6"]
    groups["system"]["zones"] = ["use1-az1"]
    assert refused(cluster(node_groups=groups)) == ["x.node_groups.system.zones[0]", "x.node_groups.compute.zones[0]"]


def test_what_nodes_need_to_get_ready_is_installed_before_them() -> None:
    plan = plan_cluster(cluster(), **NETWORK, at="x")  # type: ignore[arg-type]
    assert set(plan.addons_before_nodes) == {"vpc-cni", "kube-proxy", "eks-pod-identity-agent"}
    assert "coredns" in plan.addons_after_nodes, "it waits for an untainted node"
