"""Address ranges of subnets."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from tandem.config.network import Vpc
from tandem.plan.subnets import plan_subnets, slot_faults

ZONES = tuple(f"use1-az{number}" for number in range(1, 7))


@given(prefix=st.integers(16, 18), third=st.integers(0, 255), count=st.integers(2, 6), reserve=st.booleans())
def test_subnets_are_disjoint_inside_the_vpc_and_clear_of_what_is_reserved(
    prefix: int, third: int, count: int, reserve: bool
) -> None:
    own = IPv4Network((f"10.{third}.0.0", prefix))
    reserved = (f"10.{third}.0.0/24",) if reserve else ()
    subnets = plan_subnets(Vpc(cidr=str(own), reserved=reserved), ZONES[:count])
    ranges = [IPv4Network(subnet.cidr) for subnet in subnets]
    assert len(ranges) == 3 * count
    assert all(subnet.subnet_of(own) for subnet in ranges)
    assert not any(one.overlaps(other) for one, other in combinations(ranges, 2))
    assert not any(one.overlaps(IPv4Network(block)) for one in ranges for block in reserved)
    assert all(subnet.prefixlen <= 28 for subnet in ranges), "EC2 makes none smaller"


def test_a_zone_more_moves_no_subnet() -> None:
    vpc = Vpc(cidr="10.20.0.0/16")
    before = plan_subnets(vpc, ZONES[:2])
    assert plan_subnets(vpc, ZONES[:4])[: len(before)] == before


def test_a_private_subnet_has_room_for_twenty_gpu_nodes_and_their_pods() -> None:
    for prefix in (16, 17, 18):
        subnets = plan_subnets(Vpc(cidr=f"10.0.0.0/{prefix}"), ZONES[:2])
        private = [IPv4Network(subnet.cidr) for subnet in subnets if subnet.use == "private"]
        assert all(subnet.num_addresses >= 20 * 33 for subnet in private)


def test_more_zones_than_free_slots_are_a_fault() -> None:
    vpc = Vpc(cidr="10.0.0.0/16", reserved=("10.0.0.0/18", "10.0.64.0/18", "10.0.128.0/19"))
    fault = next(slot_faults(vpc, ZONES[:4], "x"))
    assert "3 are left" in fault.rule
    assert list(slot_faults(vpc, ZONES[:3], "x")) == []
