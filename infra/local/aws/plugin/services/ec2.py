"""EC2: networks, security groups, launch templates."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any, ClassVar

from local.aws.plugin.cloud import Cloud, Rejected, Unfinished
from local.aws.plugin.handler import Handler, Properties, RecordedHandler
from local.aws.plugin.schema import Failure, ResourceSchema, shaped
from local.aws.plugin.tags import as_pairs, from_pairs


class Ec2Handler(Handler):
    """What EC2 objects have in common: ids, and tags set by id."""

    service = "ec2"
    tagged_at_creation = False

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.delete_tags(Resources=[name], Tags=[{"Key": key} for key in remove])
        if tags:
            client.create_tags(Resources=[name], Tags=as_pairs(tags))

    def first(self, cloud: Cloud, call: str, key: str, **arguments: Any) -> Any:
        """The one object a describe call gives, or None."""
        answer = cloud.found(getattr(self.client(cloud), call), **arguments)
        return answer[key][0] if answer and answer[key] else None


def _no_inline(inputs: Properties, names: tuple[str, ...], instead: str) -> list[Failure]:
    """Inline lists fight with resources of their own; the stand-in keeps only the latter."""
    reason = f"the local stand-in has no inline rules or routes. Use {instead}."
    return [Failure(name, reason) for name in names if inputs.get(name)]


class Vpc(Ec2Handler):
    type = "aws:ec2/vpc:Vpc"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_vpc(
            CidrBlock=inputs["cidrBlock"], InstanceTenancy=inputs.get("instanceTenancy") or "default"
        )["Vpc"]
        return str(made["VpcId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        self._dns(cloud, name, inputs)

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self._dns(cloud, name, inputs)

    def _dns(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        # AWS takes one attribute a call, and support before host names.
        for key, attribute in (("enableDnsSupport", "EnableDnsSupport"), ("enableDnsHostnames", "EnableDnsHostnames")):
            if inputs.get(key) is not None:
                self.client(cloud).modify_vpc_attribute(VpcId=name, **{attribute: {"Value": bool(inputs[key])}})

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        vpc = self.first(cloud, "describe_vpcs", "Vpcs", VpcIds=[name])
        if vpc is None:
            return None
        client = self.client(cloud)
        group = client.describe_security_groups(
            Filters=[{"Name": "vpc-id", "Values": [name]}, {"Name": "group-name", "Values": ["default"]}]
        )["SecurityGroups"]
        tables = client.describe_route_tables(
            Filters=[{"Name": "vpc-id", "Values": [name]}, {"Name": "association.main", "Values": ["true"]}]
        )["RouteTables"]
        acls = client.describe_network_acls(
            Filters=[{"Name": "vpc-id", "Values": [name]}, {"Name": "default", "Values": ["true"]}]
        )["NetworkAcls"]
        main = tables[0]["RouteTableId"] if tables else ""

        def attribute(wire: str) -> bool:
            return bool(client.describe_vpc_attribute(VpcId=name, Attribute=wire)[wire[0].upper() + wire[1:]]["Value"])

        return {
            "arn": cloud.arn("ec2", f"vpc/{name}"),
            "cidrBlock": vpc["CidrBlock"],
            "instanceTenancy": vpc["InstanceTenancy"],
            "enableDnsSupport": attribute("enableDnsSupport"),
            "enableDnsHostnames": attribute("enableDnsHostnames"),
            "defaultSecurityGroupId": group[0]["GroupId"] if group else "",
            "defaultRouteTableId": main,
            "mainRouteTableId": main,
            "defaultNetworkAclId": acls[0]["NetworkAclId"] if acls else "",
            "dhcpOptionsId": vpc.get("DhcpOptionsId", ""),
            "ownerId": cloud.account,
            "tagsAll": from_pairs(vpc.get("Tags")),
        }

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        loosened = state.get("instanceTenancy") == "dedicated" and inputs.get("instanceTenancy") == "default"
        return {"instanceTenancy": not loosened}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_vpc, VpcId=name)


class Subnet(Ec2Handler):
    type = "aws:ec2/subnet:Subnet"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        zone = {
            wire: inputs[key]
            for key, wire in (("availabilityZone", "AvailabilityZone"), ("availabilityZoneId", "AvailabilityZoneId"))
            if inputs.get(key)
        }
        made = self.client(cloud).create_subnet(VpcId=inputs["vpcId"], CidrBlock=inputs["cidrBlock"], **zone)["Subnet"]
        return str(made["SubnetId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        self.update(cloud, name, {}, inputs, frozenset({"mapPublicIpOnLaunch"}))

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        if "mapPublicIpOnLaunch" in changed:
            value = {"Value": bool(inputs.get("mapPublicIpOnLaunch"))}
            self.client(cloud).modify_subnet_attribute(SubnetId=name, MapPublicIpOnLaunch=value)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        subnet = self.first(cloud, "describe_subnets", "Subnets", SubnetIds=[name])
        if subnet is None:
            return None
        return {
            "arn": subnet.get("SubnetArn") or cloud.arn("ec2", f"subnet/{name}"),
            "vpcId": subnet["VpcId"],
            "cidrBlock": subnet["CidrBlock"],
            "availabilityZone": subnet["AvailabilityZone"],
            "availabilityZoneId": subnet["AvailabilityZoneId"],
            "mapPublicIpOnLaunch": subnet["MapPublicIpOnLaunch"],
            "ownerId": cloud.account,
            "tagsAll": from_pairs(subnet.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_subnet, SubnetId=name)


class InternetGateway(Ec2Handler):
    type = "aws:ec2/internetGateway:InternetGateway"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        return str(made)

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        if inputs.get("vpcId"):
            self.client(cloud).attach_internet_gateway(InternetGatewayId=name, VpcId=inputs["vpcId"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        if "vpcId" in changed:
            self._detach(cloud, name)
            self.finish(cloud, name, inputs)

    def _detach(self, cloud: Cloud, name: str) -> None:
        found = self.first(cloud, "describe_internet_gateways", "InternetGateways", InternetGatewayIds=[name])
        for attachment in (found or {}).get("Attachments", ()):
            cloud.until_free(
                self.client(cloud).detach_internet_gateway, InternetGatewayId=name, VpcId=attachment["VpcId"]
            )

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_internet_gateways", "InternetGateways", InternetGatewayIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"internet-gateway/{name}"),
            "vpcId": found["Attachments"][0]["VpcId"] if found.get("Attachments") else "",
            "ownerId": cloud.account,
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        self._detach(cloud, name)
        cloud.until_free(self.client(cloud).delete_internet_gateway, InternetGatewayId=name)


class Eip(Ec2Handler):
    type = "aws:ec2/eip:Eip"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).allocate_address(Domain=inputs.get("domain") or "vpc")["AllocationId"]
        return str(made)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_addresses", "Addresses", AllocationIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"elastic-ip/{name}"),
            "allocationId": name,
            "domain": found["Domain"],
            "publicIp": found["PublicIp"],
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).release_address, AllocationId=name)


class NatGateway(Ec2Handler):
    type = "aws:ec2/natGateway:NatGateway"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments: dict[str, Any] = {"ConnectivityType": inputs.get("connectivityType") or "public"}
        if inputs.get("allocationId"):
            arguments["AllocationId"] = inputs["allocationId"]
        made = self.client(cloud).create_nat_gateway(SubnetId=inputs["subnetId"], **arguments)["NatGateway"]
        return str(made["NatGatewayId"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_nat_gateways", "NatGateways", NatGatewayIds=[name])
        if found is None or found["State"] in ("deleted", "deleting"):
            return None
        address = (found.get("NatGatewayAddresses") or [{}])[0]
        return {
            "subnetId": found["SubnetId"],
            "allocationId": address.get("AllocationId", ""),
            "connectivityType": found.get("ConnectivityType", "public"),
            "publicIp": address.get("PublicIp", ""),
            "privateIp": address.get("PrivateIp", ""),
            "networkInterfaceId": address.get("NetworkInterfaceId", ""),
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_nat_gateway, NatGatewayId=name)


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
        return _no_inline(inputs, ("routes",), "aws.ec2.Route")

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


class SecurityGroup(Ec2Handler):
    type = "aws:ec2/securityGroup:SecurityGroup"

    def check(self, inputs: Properties) -> list[Failure]:
        return _no_inline(inputs, ("ingress", "egress"), "aws.vpc.SecurityGroupIngressRule or SecurityGroupEgressRule")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_security_group(
            GroupName=inputs["name"],
            Description=inputs.get("description") or "Managed by Pulumi",
            VpcId=inputs["vpcId"],
        )
        return str(made["GroupId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        # As the real provider does with AWS's own rule, out to everywhere: only what is declared may be there.
        _revoke_everything(self.client(cloud), name)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_security_groups", "SecurityGroups", GroupIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"security-group/{name}"),
            "name": found["GroupName"],
            "description": found["Description"],
            "vpcId": found.get("VpcId", ""),
            "ownerId": cloud.account,
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_security_group, GroupId=name)


def _revoke_everything(client: Any, group: str) -> None:
    found = client.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]
    if found["IpPermissions"]:
        client.revoke_security_group_ingress(GroupId=group, IpPermissions=found["IpPermissions"])
    if found["IpPermissionsEgress"]:
        client.revoke_security_group_egress(GroupId=group, IpPermissions=found["IpPermissionsEgress"])


class DefaultSecurityGroup(Ec2Handler):
    """Adopted, not made: every rule is taken away. Deleting it leaves it as it is."""

    type = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"

    def check(self, inputs: Properties) -> list[Failure]:
        return _no_inline(inputs, ("ingress", "egress"), "groups of your own")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        filters = [{"Name": "vpc-id", "Values": [inputs["vpcId"]]}, {"Name": "group-name", "Values": ["default"]}]
        found = self.client(cloud).describe_security_groups(Filters=filters)["SecurityGroups"][0]
        return str(found["GroupId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        _revoke_everything(self.client(cloud), name)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_security_groups", "SecurityGroups", GroupIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"security-group/{name}"),
            "name": found["GroupName"],
            "description": found["Description"],
            "vpcId": found["VpcId"],
            "ownerId": cloud.account,
            "ingress": [_block(rule) for rule in found["IpPermissions"]],
            "egress": [_block(rule) for rule in found["IpPermissionsEgress"]],
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        return None


def _block(rule: dict[str, Any]) -> Properties:
    return {
        "protocol": rule["IpProtocol"],
        "fromPort": rule.get("FromPort", 0),
        "toPort": rule.get("ToPort", 0),
        "cidrBlocks": [block["CidrIp"] for block in rule.get("IpRanges", ())],
        "securityGroups": [pair["GroupId"] for pair in rule.get("UserIdGroupPairs", ())],
    }


_PEERS = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")


class SecurityGroupRule(Ec2Handler):
    """Both directions of a rule that is a resource of its own."""

    egress: ClassVar[bool]

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        permission: dict[str, Any] = {"IpProtocol": inputs["ipProtocol"]}
        if inputs.get("fromPort") is not None:
            permission |= {"FromPort": int(inputs["fromPort"]), "ToPort": int(inputs["toPort"])}
        about = {"Description": inputs["description"]} if inputs.get("description") else {}
        if inputs.get("cidrIpv4"):
            permission["IpRanges"] = [{"CidrIp": inputs["cidrIpv4"], **about}]
        elif inputs.get("referencedSecurityGroupId"):
            permission["UserIdGroupPairs"] = [{"GroupId": inputs["referencedSecurityGroupId"], **about}]
        elif inputs.get("prefixListId"):
            permission["PrefixListIds"] = [{"PrefixListId": inputs["prefixListId"], **about}]
        elif inputs.get("cidrIpv6"):
            permission["Ipv6Ranges"] = [{"CidrIpv6": inputs["cidrIpv6"], **about}]
        client = self.client(cloud)
        call = client.authorize_security_group_egress if self.egress else client.authorize_security_group_ingress
        made = call(GroupId=inputs["securityGroupId"], IpPermissions=[permission])["SecurityGroupRules"]
        return str(made[0]["SecurityGroupRuleId"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self._find(cloud, name, known)
        if found is None:
            return None
        ports = (
            {} if found["IpProtocol"] == "-1" else {"fromPort": found.get("FromPort"), "toPort": found.get("ToPort")}
        )
        return {
            "arn": cloud.arn("ec2", f"security-group-rule/{name}"),
            "securityGroupRuleId": name,
            "securityGroupId": found["GroupId"],
            "ipProtocol": found["IpProtocol"],
            "cidrIpv4": found.get("CidrIpv4", ""),
            "cidrIpv6": found.get("CidrIpv6", ""),
            "prefixListId": found.get("PrefixListId", ""),
            "referencedSecurityGroupId": (found.get("ReferencedGroupInfo") or {}).get("GroupId", ""),
            "description": found.get("Description", ""),
            "tagsAll": from_pairs(found.get("Tags")),
            **ports,
        }

    def _find(self, cloud: Cloud, name: str, known: Properties) -> Any:
        client = self.client(cloud)
        # moto finds rules by their group only; a group's rules are few.
        filters = [{"Name": "group-id", "Values": [known["securityGroupId"]]}] if known.get("securityGroupId") else []
        answer = cloud.found(client.describe_security_group_rules, **({"Filters": filters} if filters else {}))
        rules = (answer or {}).get("SecurityGroupRules", ())
        return next((r for r in rules if r["SecurityGroupRuleId"] == name and r["IsEgress"] == self.egress), None)

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        # The rule keeps its id. moto demands ports where AWS takes none: -1 says "all" to both.
        rule = {
            "IpProtocol": inputs["ipProtocol"],
            "FromPort": -1 if inputs.get("fromPort") is None else int(inputs["fromPort"]),
            "ToPort": -1 if inputs.get("toPort") is None else int(inputs["toPort"]),
            "Description": inputs.get("description") or "",
        }
        peers = {
            "cidrIpv4": "CidrIpv4",
            "cidrIpv6": "CidrIpv6",
            "referencedSecurityGroupId": "ReferencedGroupId",
            "prefixListId": "PrefixListId",
        }
        rule |= {theirs: inputs[ours] for ours, theirs in peers.items() if inputs.get(ours)}
        self.client(cloud).modify_security_group_rules(
            GroupId=inputs["securityGroupId"],
            SecurityGroupRules=[{"SecurityGroupRuleId": name, "SecurityGroupRule": rule}],
        )

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        # Another value of the same kind of peer is changed in place; another kind of peer is another rule.
        before = {key for key in _PEERS if state.get(key)}
        after = {key for key in _PEERS if inputs.get(key)}
        return dict.fromkeys(_PEERS, before != after)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        client = self.client(cloud)
        call = client.revoke_security_group_egress if self.egress else client.revoke_security_group_ingress
        cloud.until_free(call, GroupId=state["securityGroupId"], SecurityGroupRuleIds=[name])


class IngressRule(SecurityGroupRule):
    type = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    egress = False


class EgressRule(SecurityGroupRule):
    type = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
    egress = True


class VpcEndpoint(Ec2Handler):
    type = "aws:ec2/vpcEndpoint:VpcEndpoint"
    LISTS: ClassVar = {
        "routeTableIds": "RouteTableIds",
        "subnetIds": "SubnetIds",
        "securityGroupIds": "SecurityGroupIds",
    }

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments: dict[str, Any] = {wire: inputs[key] for key, wire in self.LISTS.items() if inputs.get(key)}
        if inputs.get("policy"):
            arguments["PolicyDocument"] = inputs["policy"]
        if inputs.get("privateDnsEnabled") is not None:
            arguments["PrivateDnsEnabled"] = bool(inputs["privateDnsEnabled"])
        made = self.client(cloud).create_vpc_endpoint(
            VpcId=inputs["vpcId"],
            ServiceName=inputs["serviceName"],
            VpcEndpointType=inputs.get("vpcEndpointType") or "Gateway",
            **arguments,
        )["VpcEndpoint"]
        return str(made["VpcEndpointId"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        arguments: dict[str, Any] = {}
        for key, wire in self.LISTS.items():
            if key in changed:
                old, new = set(state.get(key) or ()), set(inputs.get(key) or ())
                arguments |= {f"Add{wire}": sorted(new - old), f"Remove{wire}": sorted(old - new)}
        if "policy" in changed:
            arguments["PolicyDocument"] = inputs.get("policy") or ""
        arguments = {key: value for key, value in arguments.items() if value}
        if arguments:
            self.client(cloud).modify_vpc_endpoint(VpcEndpointId=name, **arguments)

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        return {"privateDnsEnabled": state.get("vpcEndpointType") != "Interface"}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_vpc_endpoints", "VpcEndpoints", VpcEndpointIds=[name])
        if found is None or found.get("State") == "deleted":
            return None
        return {
            "arn": cloud.arn("ec2", f"vpc-endpoint/{name}"),
            "vpcId": found["VpcId"],
            "serviceName": found["ServiceName"],
            "vpcEndpointType": found["VpcEndpointType"],
            "routeTableIds": found.get("RouteTableIds", []),
            "subnetIds": found.get("SubnetIds", []),
            "securityGroupIds": [group["GroupId"] for group in found.get("Groups", ())],
            "state": "available",
            "ownerId": cloud.account,
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_vpc_endpoints, VpcEndpointIds=[name])


class FlowLog(Ec2Handler):
    type = "aws:ec2/flowLog:FlowLog"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments: dict[str, Any] = {}
        for key, wire in (
            ("iamRoleArn", "DeliverLogsPermissionArn"),
            ("logFormat", "LogFormat"),
            ("logDestination", "LogDestination"),
        ):
            if inputs.get(key):
                arguments[wire] = inputs[key]
        made = self.client(cloud).create_flow_logs(
            ResourceIds=[inputs["vpcId"]],
            ResourceType="VPC",
            TrafficType=inputs.get("trafficType") or "ALL",
            LogDestinationType=inputs.get("logDestinationType") or "cloud-watch-logs",
            MaxAggregationInterval=int(inputs.get("maxAggregationInterval") or 600),
            **arguments,
        )
        if made.get("Unsuccessful"):
            raise Rejected(made["Unsuccessful"][0]["Error"]["Message"])
        return str(made["FlowLogIds"][0])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_flow_logs", "FlowLogs", FlowLogIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"vpc-flow-log/{name}"),
            "vpcId": found["ResourceId"],
            "trafficType": found["TrafficType"],
            "logDestination": found.get("LogDestination", ""),
            "logDestinationType": found["LogDestinationType"],
            "maxAggregationInterval": found["MaxAggregationInterval"],
            "iamRoleArn": found.get("DeliverLogsPermissionArn", ""),
            "logFormat": found.get("LogFormat", ""),
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_flow_logs, FlowLogIds=[name])


class LaunchTemplate(Ec2Handler):
    type = "aws:ec2/launchTemplate:LaunchTemplate"

    def _data(self, inputs: Properties) -> dict[str, Any]:
        return {
            _data_name(key): _aws(value)
            for key, value in inputs.items()
            if key not in NOT_IN_DATA and value not in (None, "", [])
        }

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_launch_template(
            LaunchTemplateName=inputs["name"],
            VersionDescription=inputs.get("description") or "",
            LaunchTemplateData=self._data(inputs),
        )["LaunchTemplate"]
        return str(made["LaunchTemplateId"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if changed - {"updateDefaultVersion", "defaultVersion"}:
            made = client.create_launch_template_version(
                LaunchTemplateId=name,
                LaunchTemplateData=self._data(inputs),
                VersionDescription=inputs.get("description") or "",
            )["LaunchTemplateVersion"]
            if inputs.get("updateDefaultVersion"):
                client.modify_launch_template(LaunchTemplateId=name, DefaultVersion=str(made["VersionNumber"]))

    def unknown_after(self, changed: frozenset[str]) -> frozenset[str]:
        return frozenset({"latestVersion"})

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_launch_templates", "LaunchTemplates", LaunchTemplateIds=[name])
        if found is None:
            return None
        versions = self.client(cloud).describe_launch_template_versions(LaunchTemplateId=name, Versions=["$Latest"])
        data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        # moto's own answer has only the tags that it was made with.
        tags = self.client(cloud).describe_tags(Filters=[{"Name": "resource-id", "Values": [name]}])["Tags"]
        return {
            "arn": cloud.arn("ec2", f"launch-template/{name}"),
            "name": found["LaunchTemplateName"],
            "latestVersion": found["LatestVersionNumber"],
            "defaultVersion": found["DefaultVersionNumber"],
            "description": versions["LaunchTemplateVersions"][0].get("VersionDescription", ""),
            **self._inputs(data),
            "tagsAll": from_pairs(tags),
        }

    def _inputs(self, data: dict[str, Any]) -> Properties:
        """Every input that the latest version's data holds, or says it has not."""
        inputs: Properties = {}
        for name, definition in ResourceSchema.of(self.type).inputs.items():
            if name not in NOT_IN_DATA:
                inputs[name] = shaped(data.get(_data_name(name)), definition["type"], _wire_value)
        return inputs

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_launch_template, LaunchTemplateId=name)


class PlacementGroup(RecordedHandler):
    type = "aws:ec2/placementGroup:PlacementGroup"
    simulated = "moto has no placement groups"

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        return str(inputs["name"])

    def outputs(self, cloud: Cloud, name: str, inputs: Properties) -> Properties:
        digest = hashlib.sha256(f"{cloud.region}/{name}".encode()).hexdigest()[:17]
        return {"arn": cloud.arn("ec2", f"placement-group/{name}"), "placementGroupId": f"pg-{digest}"}


NOT_IN_DATA = frozenset(
    {"name", "namePrefix", "description", "region", "tags", "tagsAll", "updateDefaultVersion", "defaultVersion"}
)
"""Inputs of a launch template that belong to the template, not to a version's data."""
BLOCK_NAMES = {"securityGroups": "Groups"}


def _data_name(key: str) -> str:
    return "SecurityGroupIds" if key == "vpcSecurityGroupIds" else key[0].upper() + key[1:]


def _wire_value(block: Any, key: str) -> Any:
    """The value of a block's input in what EC2 answers."""
    value = block.get(_aws_name(key))
    return from_pairs(value) if key == "tags" else value


def _aws(value: Any) -> Any:
    """A block of the SDK as EC2 takes it: capital names, flags and numbers as they are typed there."""
    if isinstance(value, dict):
        return {_aws_name(key): _aws_leaf(key, item) for key, item in value.items() if item not in (None, "")}
    if isinstance(value, list):
        return [_aws(item) for item in value]
    return value


def _aws_name(key: str) -> str:
    return BLOCK_NAMES.get(key, key[0].upper() + key[1:])


def _aws_leaf(key: str, value: Any) -> Any:
    if key in ("associatePublicIpAddress", "deleteOnTermination", "encrypted", "ebsOptimized"):
        return str(value).lower() == "true"
    if key == "tags":
        return as_pairs(value)
    if isinstance(value, float):
        return int(value)
    return _aws(value)
