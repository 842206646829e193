"""Endpoints of AWS's services in a VPC."""

from __future__ import annotations

from typing import Any, ClassVar

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Properties
from local.aws.plugin.services.ec2.base import Ec2Handler
from local.aws.plugin.tags import from_pairs


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
