"""What a network stack's file may say."""

from __future__ import annotations

import pytest

from tests.tandem.stacks import data, faults, only_fault


def test_a_range_with_bits_behind_its_prefix_is_refused_with_the_range_that_was_meant() -> None:
    network = data("local-network")
    network["vpc"] = {"cidr": "10.200.0.1/16"}
    fault = only_fault(network)
    assert fault.where == "stacks/Pulumi.test.yaml: tandem:stack.vpc.cidr"
    assert fault.fix == "Write 10.200.0.0/16"


@pytest.mark.parametrize("cidr", ["8.8.0.0/16", "10.0.0.0/15", "10.0.0.0/19", "fd00::/16", "ten"])
def test_a_vpc_is_a_private_range_of_a_size_that_nodes_fit_in(cidr: str) -> None:
    network = data("dev-network")
    network["vpc"] = {"cidr": cidr}
    assert only_fault(network).given == repr(cidr)


def test_a_peer_that_overlaps_the_vpc_is_refused() -> None:
    network = data("dev-network")
    network["vpc"]["peers"] = ["10.20.128.0/20", "10.30.0.0/16"]
    fault = only_fault(network)
    assert fault.where.endswith("vpc.peers[0]")
    assert "overlaps the VPC's 10.20.0.0/16" in fault.rule


def test_peers_that_do_not_overlap_are_accepted() -> None:
    network = data("dev-network")
    network["vpc"]["peers"] = ["10.30.0.0/16", "10.31.0.0/16"]
    assert faults(network) == []


def test_reserved_ranges_lie_inside_and_apart() -> None:
    network = data("local-network")
    network["vpc"]["reserved"] = ["10.200.0.0/23", "10.200.1.0/24", "10.9.0.0/24"]
    assert [fault.where.rpartition(".")[2] for fault in faults(network)] == ["reserved[2]", "reserved[1]"]


def test_the_kv_zone_is_one_of_the_zones() -> None:
    network = data("dev-network")
    network["kv_zone"] = "use1-az2"
    assert only_fault(network).fix == "Write one of: use1-az4, use1-az6"


def test_zones_are_ids_of_the_sites_region() -> None:
    network = data("dev-network")
    network["zones"] = ["use1-az4", "usw2-az1"]
    assert "begin with use1-az" in only_fault(network).rule


def test_a_zone_name_is_no_zone_id() -> None:
    network = data("dev-network")
    network["zones"] = ["use1-az4", "us-east-1b"]
    fault = only_fault(network)
    assert (fault.where.rpartition(".")[2], fault.fix) == ("zones[1]", "For example use1-az4")


def test_two_zones_must_be_able_to_host_the_control_plane() -> None:
    network = data("dev-network")
    network["zones"] = ["use1-az4", "use1-az3"]
    assert "use1-az3" in only_fault(network).rule
    network["zones"] = ["use1-az4", "use1-az3", "use1-az6"]
    assert faults(network) == []


def test_every_fault_is_reported_at_once() -> None:
    network = data("dev-network")
    network["zones"] = ["use1-az4", "use1-az4"]
    network["kv_zone"] = "use1-az1"
    network["vpc"]["peers"] = ["10.20.0.0/16"]
    wheres = {fault.where.rpartition("tandem:stack.")[2] for fault in faults(network)}
    assert wheres == {"zones[1]", "zones", "kv_zone", "vpc.peers[0]"}


def test_a_misspelt_key_names_the_one_that_was_meant() -> None:
    network = data("dev-network")
    network["nat"] = {"kind": "gateways", "pre": "zone"}
    assert only_fault(network).fix == "Did you mean `per`?"
