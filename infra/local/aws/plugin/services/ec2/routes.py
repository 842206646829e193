"""Route tables, their routes, and what they are associated with."""

from __future__ import annotations

import zlib
from typing import Any

from local.aws.plugin.cloud import Cloud, Unfinished
from local.aws.plugin.handler import Properties
from local.aws.plugin.schema import Failure
from local.aws.plugin.services.ec2.base import Ec2Handler, no_inline
from local.aws.plugin.tags import from_pairs

TARGETS = {
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
    "transitGatewayId": "TransitGatewayId",
}
"""Where a route leads: wire name -> AWS's."""
DESTINATIONS = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}
"""For whom a route is; it has just one."""


class RouteTable(Ec2Handler):
    type = "aws:ec2/routeTable:RouteTable"

    def check(self, inputs: Properties) -> list[Failure]:
        return no_inline(inputs, ("routes",), "aws.ec2.Route")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_route_table(VpcId=inputs["vpcId"])["RouteTable"]["RouteTableId"]
        return str(made)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_route_tables", "RouteTables", RouteTableIds=[name])
        if found is None:
            return None
        # Routes are resources of their own here; inline ones would fight with them.
        return {
            "arn": cloud.arn("ec2", f"route-table/{name}"),
            "vpcId": found["VpcId"],
            "ownerId": cloud.account,
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_route_table, RouteTableId=name)


class Route(Ec2Handler):
    type = "aws:ec2/route:Route"

    def check(self, inputs: Properties) -> list[Failure]:
        given = [key for key in DESTINATIONS if inputs.get(key)]
        if len(given) == 1:
            return []
        return [Failure(next(iter(DESTINATIONS)), f"a route has one of {', '.join(DESTINATIONS)}. Give just one.")]

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.client(cloud).create_route(**_route(inputs, TARGETS))
        return _route_id(inputs["routeTableId"], _destination(inputs))

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.client(cloud).replace_route(**_route(inputs, TARGETS))

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        table, _, destination = name.partition("_")
        kind = "destinationPrefixListId" if destination.startswith("pl-") else "destinationCidrBlock"
        kind = "destinationIpv6CidrBlock" if ":" in destination else kind
        return _route_id(table, destination), {"routeTableId": table, kind: destination}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        table = known["routeTableId"]
        found = self.first(cloud, "describe_route_tables", "RouteTables", RouteTableIds=[table])
        wanted = _route(known, {})
        routes = [r for r in (found or {}).get("Routes", ()) if {**r, "RouteTableId": table}.items() >= wanted.items()]
        if not routes:
            return None
        route = routes[0]
        return {
            "routeTableId": table,
            **{key: route.get(wire, "") for key, wire in {**DESTINATIONS, **TARGETS}.items()},
            "origin": route.get("Origin", ""),
            "state": route.get("State", ""),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_route, **_route(state, {}))


def _route(inputs: Properties, targets: dict[str, str]) -> dict[str, Any]:
    """A route as EC2's calls name it: table, destination and, of these kinds, the target."""
    names = {"routeTableId": "RouteTableId", **DESTINATIONS, **targets}
    return {wire: inputs[key] for key, wire in names.items() if inputs.get(key)}


def _destination(inputs: Properties) -> str:
    return str(next(inputs[key] for key in DESTINATIONS if inputs.get(key)))


def _route_id(table: str, destination: str) -> str:
    """As the real provider makes it up: EC2 gives routes no id."""
    return f"r-{table}{zlib.crc32(destination.encode())}"


ASSOCIATED = {"subnetId": "SubnetId", "gatewayId": "GatewayId"}
"""What a route table is associated with: wire name -> AWS's."""


class RouteTableAssociation(Ec2Handler):
    type = "aws:ec2/routeTableAssociation:RouteTableAssociation"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        ends = {wire: inputs[key] for key, wire in ASSOCIATED.items() if inputs.get(key)}
        made = self.client(cloud).associate_route_table(RouteTableId=inputs["routeTableId"], **ends)
        return str(made["AssociationId"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        found = self._find(cloud, name, state)
        if found is None:
            raise Unfinished("it is gone. Run `pulumi refresh`, then update again")
        self.client(cloud).replace_route_table_association(
            AssociationId=found["RouteTableAssociationId"], RouteTableId=inputs["routeTableId"]
        )

    def _find(self, cloud: Cloud, name: str, known: Properties) -> Any:
        """By its end where that is known: a change in place gave the association another id, and it is still this one."""
        ends = {wire: known[key] for key, wire in ASSOCIATED.items() if known.get(key)}
        wanted = ends or {"RouteTableAssociationId": name}
        for table in self.client(cloud).describe_route_tables()["RouteTables"]:
            for found in table.get("Associations", ()):
                if found.items() >= wanted.items():
                    return {**found, "RouteTableId": table["RouteTableId"]}
        return None

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self._find(cloud, name, known)
        if found is None:
            return None
        return {
            "routeTableId": found["RouteTableId"],
            **{key: found.get(wire, "") for key, wire in ASSOCIATED.items()},
        }

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        subnet, _, table = name.partition("/")
        for found in self.client(cloud).describe_route_tables(RouteTableIds=[table])["RouteTables"][0]["Associations"]:
            if found.get("SubnetId") == subnet:
                return found["RouteTableAssociationId"], {}
        return name, {}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        found = self._find(cloud, name, state)
        if found is not None:
            call = self.client(cloud).disassociate_route_table
            cloud.until_free(call, AssociationId=found["RouteTableAssociationId"])
