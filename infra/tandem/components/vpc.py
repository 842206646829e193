"""The site's VPC: subnets, ways in and out."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.components.policy_document import policy_document
from tandem.plan.network import NetworkPlan
from tandem.plan.subnets import SubnetPlan

ANYWHERE = "0.0.0.0/0"
LOAD_BALANCER_TAG = {"public": "kubernetes.io/role/elb", "private": "kubernetes.io/role/internal-elb"}
"""How the AWS Load Balancer Controller finds subnets."""


class Vpc(pulumi.ComponentResource):
    """A VPC whose default security group lets nothing through.

    Creates: VPC, Internet gateway, subnets, route tables, NAT gateways, S3 gateway endpoint.
    Cost: NAT gateways, by the hour and by the byte; the rest is free.
    Replaced by: the address range, and with it everything inside.
    """

    vpc_id: pulumi.Output[str]
    subnet_ids: dict[str, pulumi.Output[str]]
    """Subnet key -> id."""

    def __init__(
        self, name: str, plan: NetworkPlan, *, account_id: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("tandem:network:Vpc", name, {}, opts)
        self._name, self._plan = name, plan
        self._child = pulumi.ResourceOptions(parent=self)
        vpc = aws.ec2.Vpc(
            name,
            cidr_block=plan.cidr,
            # Both, or the cluster's private endpoint cannot be found by name.
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags(""),
            opts=self._child,
        )
        self.vpc_id = vpc.id
        aws.ec2.DefaultSecurityGroup(f"{name}-default-group", vpc_id=vpc.id, opts=self._child)
        subnets = {subnet.key: self._subnet(subnet) for subnet in plan.subnets}
        self.subnet_ids = {key: subnet.id for key, subnet in subnets.items()}
        public = self._public_routes(subnets)
        private = self._private_routes(subnets)
        self._s3_endpoint(account_id, [public, *private])
        self.register_outputs({"vpc_id": self.vpc_id})

    def _subnet(self, subnet: SubnetPlan) -> aws.ec2.Subnet:
        role = LOAD_BALANCER_TAG.get(subnet.use)
        return aws.ec2.Subnet(
            f"{self._name}-{subnet.key}",
            vpc_id=self.vpc_id,
            cidr_block=subnet.cidr,
            availability_zone_id=subnet.zone_id,
            map_public_ip_on_launch=False,
            tags={**self._tags(subnet.key), **({role: "1"} if role else {})},
            opts=self._child,
        )

    def _public_routes(self, subnets: dict[str, aws.ec2.Subnet]) -> aws.ec2.RouteTable:
        gateway = aws.ec2.InternetGateway(
            f"{self._name}-internet", vpc_id=self.vpc_id, tags=self._tags("internet"), opts=self._child
        )
        table = self._table("public")
        aws.ec2.Route(
            f"{self._name}-public-out",
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE,
            gateway_id=gateway.id,
            opts=self._child,
        )
        self._associate(table, [subnet for subnet in self._plan.subnets if subnet.use == "public"], subnets)
        return table

    def _private_routes(self, subnets: dict[str, aws.ec2.Subnet]) -> list[aws.ec2.RouteTable]:
        gateways = {zone: self._nat(zone, subnets) for zone in self._plan.nat_zones}
        tables = []
        zones = dict.fromkeys(subnet.zone_id for subnet in self._plan.subnets)
        for zone in zones:
            table = self._table(f"private-{zone}")
            inside = [s for s in self._plan.subnets if s.zone_id == zone and s.use != "public"]
            self._associate(table, inside, subnets)
            if zone in self._plan.way_out:
                aws.ec2.Route(
                    f"{self._name}-private-{zone}-out",
                    route_table_id=table.id,
                    destination_cidr_block=ANYWHERE,
                    nat_gateway_id=gateways[self._plan.way_out[zone]].id,
                    opts=self._child,
                )
            tables.append(table)
        return tables

    def _nat(self, zone: str, subnets: dict[str, aws.ec2.Subnet]) -> aws.ec2.NatGateway:
        address = aws.ec2.Eip(
            f"{self._name}-nat-{zone}-address", domain="vpc", tags=self._tags(f"nat-{zone}"), opts=self._child
        )
        return aws.ec2.NatGateway(
            f"{self._name}-nat-{zone}",
            subnet_id=subnets[f"public-{zone}"].id,
            allocation_id=address.id,
            tags=self._tags(f"nat-{zone}"),
            opts=self._child,
        )

    def _table(self, what: str) -> aws.ec2.RouteTable:
        return aws.ec2.RouteTable(
            f"{self._name}-{what}-routes", vpc_id=self.vpc_id, tags=self._tags(what), opts=self._child
        )

    def _associate(
        self, table: aws.ec2.RouteTable, inside: list[SubnetPlan], subnets: dict[str, aws.ec2.Subnet]
    ) -> None:
        for subnet in inside:
            aws.ec2.RouteTableAssociation(
                f"{self._name}-{subnet.key}-routes",
                route_table_id=table.id,
                subnet_id=subnets[subnet.key].id,
                opts=self._child,
            )

    def _s3_endpoint(self, account_id: str, tables: list[aws.ec2.RouteTable]) -> None:
        region = self._plan.region
        aws.ec2.VpcEndpoint(
            f"{self._name}-s3",
            vpc_id=self.vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{region}.s3",
            route_table_ids=[table.id for table in tables],
            policy=policy_document(
                {
                    "Sid": "OwnBuckets",
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": "*",
                    "Condition": {"StringEquals": {"aws:ResourceAccount": account_id}},
                },
                {
                    "Sid": "ImageLayers",
                    "Effect": "Allow",
                    "Principal": "*",
                    "Action": "s3:GetObject",
                    "Resource": f"arn:aws:s3:::prod-{region}-starport-layer-bucket/*",
                },
            ),
            tags=self._tags("s3"),
            opts=self._child,
        )

    def _tags(self, what: str) -> dict[str, str]:
        return {"Name": f"{self._plan.prefix}-{what}" if what else self._plan.prefix}
