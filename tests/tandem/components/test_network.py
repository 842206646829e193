"""What a network stack declares."""

from __future__ import annotations

from tandem import limits
from tandem.outputs.network import NetworkOutputs
from tandem.plan.ports import Group, security_group_rules

from tests.tandem.components.conftest import BuildStack


def test_every_rule_of_the_port_table_is_a_resource_of_its_own(build: BuildStack) -> None:
    network = build("dev-network")
    rules = network.of("SecurityGroupIngressRule") + network.of("SecurityGroupEgressRule")
    assert len(rules) == len(security_group_rules(limits.GATEWAY_PORT))
    for group in network.of("ec2/securityGroup:SecurityGroup"):
        assert "ingress" not in group.inputs and "egress" not in group.inputs, "inline rules fight with separate ones"


def test_a_rule_has_one_peer_and_no_ports_where_it_is_for_all_protocols(build: BuildStack) -> None:
    network = build("dev-network")
    for rule in network.of("SecurityGroupIngressRule") + network.of("SecurityGroupEgressRule"):
        assert ("cidrIpv4" in rule.inputs) != ("referencedSecurityGroupId" in rule.inputs), rule.name
        assert (rule.inputs["ipProtocol"] == "-1") == ("fromPort" not in rule.inputs), rule.name


def test_no_subnet_gives_public_addresses_to_what_starts_in_it(build: BuildStack) -> None:
    assert {subnet.inputs["mapPublicIpOnLaunch"] for subnet in build("dev-network").of("Subnet")} == {False}


def test_private_subnets_leave_by_nat_and_public_ones_by_the_internet_gateway(build: BuildStack) -> None:
    routes = {route.name: route.inputs for route in build("dev-network").of("ec2/route:Route")}
    assert "gatewayId" in routes["vpc-public-out"]
    private = [inputs for name, inputs in routes.items() if name.startswith("vpc-private")]
    assert len(private) == 2 and all("natGatewayId" in inputs for inputs in private)


def test_every_subnet_is_in_exactly_one_route_table(build: BuildStack) -> None:
    network = build("dev-network")
    associated = sorted(route.inputs["subnetId"] for route in network.of("RouteTableAssociation"))
    assert associated == sorted(f"{subnet.name}-id" for subnet in network.of("Subnet"))


def test_the_default_group_is_emptied_and_s3_has_a_way_of_its_own(build: BuildStack) -> None:
    network = build("local-network")
    assert {"ingress", "egress"}.isdisjoint(network.one("DefaultSecurityGroup").inputs)
    endpoint = network.one("VpcEndpoint").inputs
    assert endpoint["serviceName"] == "com.amazonaws.us-east-1.s3"
    assert len(endpoint["routeTableIds"]) == len(network.of("RouteTable"))


def test_the_local_network_pays_for_no_nat(build: BuildStack) -> None:
    network = build("local-network")
    assert network.of("NatGateway") == [] and network.of("Eip") == []


def test_flow_logs_wait_for_the_policy_that_lets_them_be_written(build: BuildStack) -> None:
    network = build("dev-network")
    assert network.one("FlowLog").inputs["logDestinationType"] == "s3"
    policy = network.one("BucketPolicy").inputs["policy"]
    assert "delivery.logs.amazonaws.com" in policy


def test_the_contract_tells_of_every_subnet_and_group(build: BuildStack) -> None:
    outputs = NetworkOutputs.model_validate(build("local-network").exported["network"])
    assert [subnet.cidr for subnet in outputs.subnets_for("public")] == ["10.200.48.0/24", "10.200.80.0/24"]
    assert [subnet.zone_id for subnet in outputs.subnets_for("private", "use1-az6")] == ["use1-az6"]
    assert set(outputs.security_groups) == {group.value for group in Group}
    assert outputs.gateway_port == limits.GATEWAY_PORT


def test_every_aws_resource_goes_through_the_stacks_own_provider(build: BuildStack) -> None:
    network = build("dev-network")
    provider = network.one("pulumi:providers:aws").inputs
    assert "123456789012" in str(provider["allowedAccountIds"])
    for resource in network.declared:
        if resource.type.startswith("aws:"):
            assert "providers:aws::aws::" in resource.provider, resource.name
