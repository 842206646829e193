"""EC2. One file a noun; the registry finds a type's file here."""

from __future__ import annotations

from local.aws.plugin.services.ec2.endpoints import VpcEndpoint
from local.aws.plugin.services.ec2.flow_logs import FlowLog
from local.aws.plugin.services.ec2.launch_templates import LaunchTemplate
from local.aws.plugin.services.ec2.network import Eip, InternetGateway, NatGateway, Subnet, Vpc
from local.aws.plugin.services.ec2.placement_groups import PlacementGroup
from local.aws.plugin.services.ec2.routes import Route, RouteTable, RouteTableAssociation
from local.aws.plugin.services.ec2.security_groups import DefaultSecurityGroup, EgressRule, IngressRule, SecurityGroup

__all__ = [
    "DefaultSecurityGroup",
    "EgressRule",
    "Eip",
    "FlowLog",
    "IngressRule",
    "InternetGateway",
    "LaunchTemplate",
    "NatGateway",
    "PlacementGroup",
    "Route",
    "RouteTable",
    "RouteTableAssociation",
    "SecurityGroup",
    "Subnet",
    "Vpc",
    "VpcEndpoint",
]
