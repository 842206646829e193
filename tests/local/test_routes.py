"""Between regions there is a way only where a route table leads into an active peering connection."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Any

import boto3
import pytest
from local.regions import in_order
from local.routes import Network, commands, read_network, undo
from moto import mock_aws

HERE, THERE = IPv4Network("10.10.0.0/16"), IPv4Network("10.20.0.0/16")
REGIONS = in_order(("us-east-1", "eu-west-1"))


def network(region: str, block: IPv4Network, *peered: IPv4Network) -> Network:
    return Network(region, frozenset({block}), frozenset(peered))


def test_a_vpc_is_reached_through_its_regions_own_address() -> None:
    done = commands([network("us-east-1", HERE), network("eu-west-1", THERE)], REGIONS)
    assert ("-n", "region-us-east-1", "address", "replace", "10.10.0.1/16", "dev", "tandem0") in done
    assert ("route", "replace", "10.20.0.0/16", "via", "198.19.0.11") in done
    assert not [c for c in done if c[0] == "-n" and "route" in c], "without peering no region knows another"


def test_a_peered_vpc_is_a_route_on_the_side_whose_table_has_it() -> None:
    done = commands([network("us-east-1", HERE, THERE), network("eu-west-1", THERE)], REGIONS)
    routes = [c for c in done if c[0] == "-n" and "route" in c]
    assert routes == [("-n", "region-us-east-1", "route", "replace", "10.20.0.0/16", "via", "198.19.0.11")]


def test_a_route_to_nobody_is_left_out() -> None:
    done = commands([network("us-east-1", HERE, IPv4Network("10.99.0.0/16"))], REGIONS)
    assert not [c for c in done if "10.99.0.0/16" in c]


def test_each_command_can_be_taken_back() -> None:
    command = ("-n", "region-us-east-1", "route", "replace", "10.20.0.0/16", "via", "198.19.0.11")
    assert undo(command) == ("-n", "region-us-east-1", "route", "del", "10.20.0.0/16", "via", "198.19.0.11")


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "local")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "local")
    with mock_aws():
        yield {region.name: boto3.client("ec2", region_name=region.name) for region in REGIONS}


def test_moto_is_read_as_a_router_sees_it(clients: dict[str, Any]) -> None:
    vpcs = {
        name: client.create_vpc(CidrBlock=str(block))["Vpc"]["VpcId"]
        for (name, client), block in zip(clients.items(), (HERE, THERE), strict=True)
    }
    here, there = clients.values()
    peering = here.create_vpc_peering_connection(
        VpcId=vpcs["us-east-1"], PeerVpcId=vpcs["eu-west-1"], PeerRegion="eu-west-1"
    )["VpcPeeringConnection"]["VpcPeeringConnectionId"]
    table = here.create_route_table(VpcId=vpcs["us-east-1"])["RouteTable"]["RouteTableId"]
    here.create_route(RouteTableId=table, DestinationCidrBlock=str(THERE), VpcPeeringConnectionId=peering)
    assert read_network(here, "us-east-1").peered == frozenset(), "a connection that nobody accepted leads nowhere"
    there.accept_vpc_peering_connection(VpcPeeringConnectionId=peering)
    assert read_network(here, "us-east-1") == network("us-east-1", HERE, THERE)
    assert read_network(there, "eu-west-1") == network("eu-west-1", THERE)
