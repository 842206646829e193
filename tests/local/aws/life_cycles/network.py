"""Networks: VPC, subnets, routes, endpoints."""

from __future__ import annotations

from tests.local.aws.life_cycles.cycle import Drift, It, LifeCycle, Outside, changed_tags, tag_drift


def _dissociate(outside: Outside, it: It) -> None:
    client = outside.client("ec2")
    table = client.describe_route_tables(RouteTableIds=[it["routeTableId"]])["RouteTables"][0]
    for found in table["Associations"]:
        if found.get("SubnetId") == it["subnetId"]:
            client.disassociate_route_table(AssociationId=found["RouteTableAssociationId"])


ROWS = (
    LifeCycle(
        "vpc",
        "aws:ec2/vpc:Vpc",
        lambda ref: {"cidrBlock": "10.200.0.0/16", "tags": {"use": "test"}},
        lambda ref: {"enableDnsHostnames": True, **changed_tags(ref)},
        drift=Drift(
            lambda outside, it: outside.client("ec2").modify_vpc_attribute(
                VpcId=it["id"], EnableDnsSupport={"Value": False}
            )
        ),
    ),
    LifeCycle(
        "vpc-alone",
        "aws:ec2/vpc:Vpc",
        lambda ref: {"cidrBlock": "10.201.0.0/16"},
        replaced=lambda ref: {"cidrBlock": "10.202.0.0/16"},
    ),
    LifeCycle("vpc-second", "aws:ec2/vpc:Vpc", lambda ref: {"cidrBlock": "10.203.0.0/16"}),
    LifeCycle(
        "subnet-a",
        "aws:ec2/subnet:Subnet",
        lambda ref: {"vpcId": ref("vpc"), "cidrBlock": "10.200.1.0/24", "availabilityZone": "us-east-1a"},
        lambda ref: {"mapPublicIpOnLaunch": True},
        drift=tag_drift(),
    ),
    LifeCycle(
        "subnet-b",
        "aws:ec2/subnet:Subnet",
        lambda ref: {"vpcId": ref("vpc"), "cidrBlock": "10.200.2.0/24", "availabilityZoneId": "use1-az2"},
    ),
    LifeCycle(
        "subnet-c",
        "aws:ec2/subnet:Subnet",
        lambda ref: {"vpcId": ref("vpc"), "cidrBlock": "10.200.3.0/24", "availabilityZone": "us-east-1c"},
        replaced=lambda ref: {"cidrBlock": "10.200.4.0/24"},
    ),
    LifeCycle(
        "internet",
        "aws:ec2/internetGateway:InternetGateway",
        lambda ref: {"vpcId": ref("vpc")},
        changed_tags,
        drift=Drift(
            lambda outside, it: outside.client("ec2").detach_internet_gateway(
                InternetGatewayId=it["id"], VpcId=it["vpcId"]
            )
        ),
    ),
    LifeCycle(
        "internet-alone",
        "aws:ec2/internetGateway:InternetGateway",
        lambda ref: {},
        replaced=lambda ref: {"region": "us-west-2"},
    ),
    LifeCycle("address", "aws:ec2/eip:Eip", lambda ref: {"domain": "vpc"}, changed_tags, drift=tag_drift()),
    LifeCycle(
        "address-alone", "aws:ec2/eip:Eip", lambda ref: {"domain": "vpc"}, replaced=lambda ref: {"region": "us-west-2"}
    ),
    LifeCycle(
        "nat",
        "aws:ec2/natGateway:NatGateway",
        lambda ref: {"allocationId": ref("address"), "subnetId": ref("subnet-a")},
        changed_tags,
        drift=tag_drift(),
    ),
    LifeCycle(
        "nat-private",
        "aws:ec2/natGateway:NatGateway",
        lambda ref: {"connectivityType": "private", "subnetId": ref("subnet-a")},
        replaced=lambda ref: {"subnetId": ref("subnet-b")},
    ),
    LifeCycle(
        "table",
        "aws:ec2/routeTable:RouteTable",
        lambda ref: {"vpcId": ref("vpc")},
        changed_tags,
        drift=tag_drift(),
    ),
    LifeCycle("table-second", "aws:ec2/routeTable:RouteTable", lambda ref: {"vpcId": ref("vpc")}),
    LifeCycle(
        "table-alone",
        "aws:ec2/routeTable:RouteTable",
        lambda ref: {"vpcId": ref("vpc")},
        replaced=lambda ref: {"vpcId": ref("vpc-second")},
    ),
    LifeCycle(
        "route",
        "aws:ec2/route:Route",
        lambda ref: {
            "routeTableId": ref("table"),
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": ref("internet"),
        },
        lambda ref: {"gatewayId": None, "natGatewayId": ref("nat")},
        lambda ref: {"destinationCidrBlock": "192.0.2.0/24"},
        drift=Drift(
            lambda outside, it: outside.client("ec2").delete_route(
                RouteTableId=it["routeTableId"], DestinationCidrBlock=it["destinationCidrBlock"]
            ),
            repair="create",
        ),
        import_id=lambda it: f"{it['routeTableId']}_{it['destinationCidrBlock']}",
    ),
    LifeCycle(
        "association",
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        lambda ref: {"subnetId": ref("subnet-a"), "routeTableId": ref("table")},
        lambda ref: {"routeTableId": ref("table-second")},
        lambda ref: {"subnetId": ref("subnet-b")},
        drift=Drift(_dissociate, repair="create"),
        import_id=lambda it: f"{it['subnetId']}/{it['routeTableId']}",
    ),
    LifeCycle(
        "s3-endpoint",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        lambda ref: {
            "vpcId": ref("vpc"),
            "serviceName": "com.amazonaws.us-east-1.s3",
            "routeTableIds": [ref("table")],
        },
        lambda ref: {"routeTableIds": [ref("table"), ref("table-second")], **changed_tags(ref)},
        lambda ref: {"serviceName": "com.amazonaws.us-east-1.dynamodb"},
        drift=tag_drift(),
    ),
)
