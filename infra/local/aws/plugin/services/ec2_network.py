"""VPC, subnets, gateways, addresses."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.schema import Failure
from local.aws.plugin.services.ec2 import Ec2Handler, given, read_tags, specification

_VPC_ATTRIBUTES = {
    "enableDnsSupport": "EnableDnsSupport",
    "enableDnsHostnames": "EnableDnsHostnames",
    "enableNetworkAddressUsageMetrics": "EnableNetworkAddressUsageMetrics",
}


class Vpc(Ec2Handler):
    type = "aws:ec2/vpc:Vpc"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments = given(
            inputs,
            {
                "CidrBlock": "cidrBlock",
                "InstanceTenancy": "instanceTenancy",
                "AmazonProvidedIpv6CidrBlock": "assignGeneratedIpv6CidrBlock",
            },
        )
        vpc = self.client(cloud).create_vpc(**arguments, **specification("vpc", inputs))["Vpc"]
        return str(vpc["VpcId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        for wire, attribute in _VPC_ATTRIBUTES.items():
            if inputs.get(wire) is not None:
                self.client(cloud).modify_vpc_attribute(VpcId=name, **{attribute: {"Value": inputs[wire]}})

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        vpc = self.one(cloud, "describe_vpcs", "Vpcs", VpcIds=[name])
        if vpc is None:
            return None
        client = self.client(cloud)
        of_vpc = [{"Name": "vpc-id", "Values": [name]}]
        groups = client.describe_security_groups(Filters=[*of_vpc, {"Name": "group-name", "Values": ["default"]}])
        tables = client.describe_route_tables(Filters=[*of_vpc, {"Name": "association.main", "Values": ["true"]}])
        networks = client.describe_network_acls(Filters=[*of_vpc, {"Name": "default", "Values": ["true"]}])
        main = next((table["RouteTableId"] for table in tables["RouteTables"]), None)
        ipv6 = next(iter(vpc.get("Ipv6CidrBlockAssociationSet", [])), {})
        state = {
            "arn": cloud.arn("ec2", f"vpc/{name}"),
            "cidrBlock": vpc["CidrBlock"],
            "instanceTenancy": vpc.get("InstanceTenancy"),
            "dhcpOptionsId": vpc.get("DhcpOptionsId"),
            "ownerId": cloud.account,
            "defaultSecurityGroupId": next((group["GroupId"] for group in groups["SecurityGroups"]), None),
            "defaultNetworkAclId": next((acl["NetworkAclId"] for acl in networks["NetworkAcls"]), None),
            "mainRouteTableId": main,
            # The first main table is the default one; it stays so when another becomes the main table.
            "defaultRouteTableId": known.get("defaultRouteTableId") or main,
            "ipv6CidrBlock": ipv6.get("Ipv6CidrBlock"),
            "ipv6AssociationId": ipv6.get("AssociationId"),
            "tagsAll": read_tags(vpc),
        }
        for wire, attribute in _VPC_ATTRIBUTES.items():
            key = attribute[0].lower() + attribute[1:]
            answer = client.describe_vpc_attribute(VpcId=name, Attribute=key)
            state[wire] = bool(answer[attribute]["Value"])
        return state

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        wanted = {wire: bool(inputs.get(wire)) for wire in _VPC_ATTRIBUTES if wire in changed}
        self.finish(cloud, name, wanted)
        if "instanceTenancy" in changed:
            self.client(cloud).modify_vpc_tenancy(VpcId=name, InstanceTenancy="default")

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_vpc, VpcId=name)

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        loosened = state.get("instanceTenancy") == "dedicated" and inputs.get("instanceTenancy") == "default"
        return {"instanceTenancy": not loosened} if "instanceTenancy" in paths else {}


_SUBNET_FLAGS = {
    "mapPublicIpOnLaunch": "MapPublicIpOnLaunch",
    "assignIpv6AddressOnCreation": "AssignIpv6AddressOnCreation",
    "enableDns64": "EnableDns64",
}
_SUBNET_DNS = {
    "enableResourceNameDnsARecordOnLaunch": "EnableResourceNameDnsARecord",
    "enableResourceNameDnsAaaaRecordOnLaunch": "EnableResourceNameDnsAAAARecord",
}


class Subnet(Ec2Handler):
    type = "aws:ec2/subnet:Subnet"
    unkept = (
        "enableDns64",
        "enableResourceNameDnsARecordOnLaunch",
        "enableResourceNameDnsAaaaRecordOnLaunch",
        "privateDnsHostnameTypeOnLaunch",
    )

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments = given(
            inputs,
            {
                "VpcId": "vpcId",
                "CidrBlock": "cidrBlock",
                "AvailabilityZone": "availabilityZone",
                "AvailabilityZoneId": "availabilityZoneId",
                "Ipv6CidrBlock": "ipv6CidrBlock",
            },
        )
        subnet = self.client(cloud).create_subnet(**arguments, **specification("subnet", inputs))["Subnet"]
        return str(subnet["SubnetId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        for wire in ("mapPublicIpOnLaunch", "assignIpv6AddressOnCreation"):
            if inputs.get(wire):
                self._set(cloud, name, wire, True)

    def _set(self, cloud: Cloud, name: str, wire: str, value: bool) -> None:
        self.client(cloud).modify_subnet_attribute(SubnetId=name, **{_SUBNET_FLAGS[wire]: {"Value": value}})

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        subnet = self.one(cloud, "describe_subnets", "Subnets", SubnetIds=[name])
        if subnet is None:
            return None
        ipv6 = next(iter(subnet.get("Ipv6CidrBlockAssociationSet", [])), {})
        return {
            "arn": cloud.arn("ec2", f"subnet/{name}"),
            "vpcId": subnet["VpcId"],
            "cidrBlock": subnet["CidrBlock"],
            "availabilityZone": subnet["AvailabilityZone"],
            "availabilityZoneId": subnet["AvailabilityZoneId"],
            "mapPublicIpOnLaunch": bool(subnet.get("MapPublicIpOnLaunch")),
            "assignIpv6AddressOnCreation": bool(subnet.get("AssignIpv6AddressOnCreation")),
            "ipv6CidrBlock": ipv6.get("Ipv6CidrBlock"),
            "ipv6CidrBlockAssociationId": ipv6.get("AssociationId"),
            "ownerId": cloud.account,
            "tagsAll": read_tags(subnet),
        }

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        for wire in ("mapPublicIpOnLaunch", "assignIpv6AddressOnCreation"):
            if wire in changed:
                self._set(cloud, name, wire, bool(inputs.get(wire)))

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_subnet, SubnetId=name)

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        if "ipv6CidrBlock" in paths:
            return {"ipv6CidrBlock": bool(state.get("assignIpv6AddressOnCreation"))}
        return {}


class InternetGateway(Ec2Handler):
    type = "aws:ec2/internetGateway:InternetGateway"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_internet_gateway(**specification("internet-gateway", inputs))
        return str(made["InternetGateway"]["InternetGatewayId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        if inputs.get("vpcId"):
            self.client(cloud).attach_internet_gateway(InternetGatewayId=name, VpcId=inputs["vpcId"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        gateway = self.one(cloud, "describe_internet_gateways", "InternetGateways", InternetGatewayIds=[name])
        if gateway is None:
            return None
        attached = next((item["VpcId"] for item in gateway.get("Attachments", [])), None)
        return {
            "arn": cloud.arn("ec2", f"internet-gateway/{name}"),
            "ownerId": cloud.account,
            "vpcId": attached,
            "tagsAll": read_tags(gateway),
        }

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        if "vpcId" in changed:
            self._detach(cloud, name, state)
            self.finish(cloud, name, inputs)

    def _detach(self, cloud: Cloud, name: str, state: Properties) -> None:
        if state.get("vpcId"):
            detach = self.client(cloud).detach_internet_gateway
            cloud.found(detach, InternetGatewayId=name, VpcId=state["vpcId"])

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        now = self.read(cloud, name, state)
        if now is not None:
            self._detach(cloud, name, now)
            cloud.until_free(self.client(cloud).delete_internet_gateway, InternetGatewayId=name)


class Eip(Ec2Handler):
    type = "aws:ec2/eip:Eip"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments = given(inputs, {"NetworkBorderGroup": "networkBorderGroup", "Address": "address"})
        made = self.client(cloud).allocate_address(Domain="vpc", **arguments, **specification("elastic-ip", inputs))
        return str(made["AllocationId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        arguments = given(
            inputs,
            {
                "InstanceId": "instance",
                "NetworkInterfaceId": "networkInterface",
                "PrivateIpAddress": "associateWithPrivateIp",
            },
        )
        if arguments:
            self.client(cloud).associate_address(AllocationId=name, AllowReassociation=True, **arguments)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        address = self.one(cloud, "describe_addresses", "Addresses", AllocationIds=[name])
        if address is None:
            return None
        dashed = str(address["PublicIp"]).replace(".", "-")
        return {
            "arn": cloud.arn("ec2", f"elastic-ip/{name}"),
            "allocationId": name,
            "associationId": address.get("AssociationId"),
            "domain": address.get("Domain"),
            "instance": address.get("InstanceId"),
            "networkBorderGroup": address.get("NetworkBorderGroup") or cloud.region,
            "networkInterface": address.get("NetworkInterfaceId"),
            "privateIp": address.get("PrivateIpAddress"),
            "publicDns": f"ec2-{dashed}.compute-1.amazonaws.com",
            "publicIp": address["PublicIp"],
            "publicIpv4Pool": address.get("PublicIpv4Pool") or "amazon",
            "tagsAll": read_tags(address),
        }

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        if changed & {"instance", "networkInterface", "associateWithPrivateIp"}:
            if state.get("associationId"):
                self.client(cloud).disassociate_address(AssociationId=state["associationId"])
            self.finish(cloud, name, inputs)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        now = self.read(cloud, name, state)
        if now is None:
            return
        if now.get("associationId") and (now.get("instance") or now.get("networkInterface")):
            cloud.found(self.client(cloud).disassociate_address, AssociationId=now["associationId"])
        cloud.until_free(self.client(cloud).release_address, AllocationId=name)


class NatGateway(Ec2Handler):
    type = "aws:ec2/natGateway:NatGateway"
    unkept = ("availabilityMode",)

    def check(self, inputs: Properties) -> list[Failure]:
        if inputs.get("connectivityType") == "public" and not inputs.get("allocationId"):
            return [Failure("allocationId", "a public gateway needs an address. Give it the allocation id of an Eip.")]
        return []

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments = given(
            inputs,
            {
                "SubnetId": "subnetId",
                "AllocationId": "allocationId",
                "ConnectivityType": "connectivityType",
                "PrivateIpAddress": "privateIp",
            },
        )
        made = self.client(cloud).create_nat_gateway(**arguments, **specification("natgateway", inputs))
        return str(made["NatGateway"]["NatGatewayId"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        gateway = self.one(cloud, "describe_nat_gateways", "NatGateways", NatGatewayIds=[name])
        if gateway is None or gateway["State"] in ("deleted", "deleting"):
            return None
        address: dict[str, Any] = next(iter(gateway.get("NatGatewayAddresses", [])), {})
        return {
            "allocationId": address.get("AllocationId"),
            "associationId": address.get("AssociationId"),
            "connectivityType": gateway.get("ConnectivityType"),
            "networkInterfaceId": address.get("NetworkInterfaceId"),
            "privateIp": address.get("PrivateIp"),
            "publicIp": address.get("PublicIp"),
            "subnetId": gateway["SubnetId"],
            "vpcId": gateway.get("VpcId"),
            "tagsAll": read_tags(gateway),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_nat_gateway, NatGatewayId=name)


class Tag(Ec2Handler):
    """A single tag on an object that something else owns."""

    type = "aws:ec2/tag:Tag"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        name = f"{inputs['resourceId']},{inputs['key']}"
        self.update(cloud, name, {}, inputs, frozenset())
        return name

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        target, _, key = name.partition(",")
        filters = [{"Name": "resource-id", "Values": [target]}, {"Name": "key", "Values": [key]}]
        found = self.client(cloud).describe_tags(Filters=filters)["Tags"]
        return {"resourceId": target, "key": key, "value": found[0]["Value"]} if found else None

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        tags = [{"Key": inputs["key"], "Value": inputs["value"]}]
        self.client(cloud).create_tags(Resources=[inputs["resourceId"]], Tags=tags)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        target, _, key = name.partition(",")
        cloud.found(self.client(cloud).delete_tags, Resources=[target], Tags=[{"Key": key}])


HANDLERS: tuple[Handler, ...] = (Vpc(), Subnet(), InternetGateway(), Eip(), NatGateway(), Tag())
