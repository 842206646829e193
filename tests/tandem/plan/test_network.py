"""A network, planned."""

from __future__ import annotations

import pytest
from tandem.config.load import parse_stack
from tandem.config.network import NetworkStack
from tandem.errors import PlanError
from tandem.plan.network import plan_network

from tests.tandem.stacks import data


def network(**changes: object) -> NetworkStack:
    """The dev network with changes."""
    stack = parse_stack(data("dev-network") | changes, "test")
    assert isinstance(stack, NetworkStack)
    return stack


def test_one_nat_gateway_serves_every_zone_or_each_its_own() -> None:
    one = plan_network(network(nat={"kind": "gateways", "per": "vpc"}), "x")
    assert one.way_out == {"use1-az4": "use1-az4", "use1-az6": "use1-az4"}
    each = plan_network(network(nat={"kind": "gateways"}), "x")
    assert each.way_out == {"use1-az4": "use1-az4", "use1-az6": "use1-az6"}
    assert plan_network(network(nat={"kind": "none"}), "x").way_out == {}


def test_no_control_plane_subnet_stands_where_eks_puts_none() -> None:
    zones = ["use1-az4", "use1-az3", "use1-az6"]
    plan = plan_network(network(zones=zones), "x")
    control = [subnet.zone_id for subnet in plan.subnets if subnet.use == "control-plane"]
    assert control == ["use1-az4", "use1-az6"]


def test_a_gateway_port_that_something_else_listens_on_is_refused() -> None:
    with pytest.raises(PlanError, match=r"x\.gateway_port: 29000 - gateway listens"):
        plan_network(network(gateway_port=29000), "x")
