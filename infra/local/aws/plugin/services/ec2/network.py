"""VPCs, subnets, gateways and addresses."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Properties
from local.aws.plugin.services.ec2.base import Ec2Handler
from local.aws.plugin.tags import from_pairs


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
