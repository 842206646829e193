"""What AWS says about the peering connections between an environment's regions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tandem.ops import clients, shell
from tandem.ops.environment import LoadedEnvironment


def routes(environment: LoadedEnvironment) -> Iterator[tuple[str, bool, str]]:
    """(what, whether it holds, detail) for both ends of every active peering connection: each must have a route to the other."""
    variables = shell.variables(environment)
    for region in environment.regions:
        client = clients.client("ec2", variables, region)
        for peering in client.describe_vpc_peering_connections()["VpcPeeringConnections"]:
            if peering["Status"]["Code"] != "active":
                continue
            ends = (peering["RequesterVpcInfo"], peering["AccepterVpcInfo"])
            for own, other in (ends, ends[::-1]):
                if own.get("Region", region) == region:
                    yield _routed(client, region, own["VpcId"], other["CidrBlock"], peering["VpcPeeringConnectionId"])


def _routed(client: Any, region: str, vpc: str, cidr: str, connection: str) -> tuple[str, bool, str]:
    tables = client.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    leading = [
        table["RouteTableId"]
        for table in tables
        if any(
            r.get("VpcPeeringConnectionId") == connection and r.get("DestinationCidrBlock") == cidr
            for r in table["Routes"]
        )
    ]
    name = f"{region}: routes to {cidr}"
    return name, bool(leading), f"{len(leading)} of {len(tables)} tables of {vpc} lead into {connection}"
