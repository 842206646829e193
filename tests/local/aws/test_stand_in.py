"""What the stand-in does beside the plain life of a resource, call by call of the provider protocol."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from google.rpc import status_pb2
from local.aws.plugin import generate, registry
from local.aws.plugin.cloud import Session
from local.aws.plugin.wire import Secret, from_struct
from pulumi.runtime.proto import provider_pb2

from tests.local.aws.provider_driver import UNCHANGED, Aborted, Driver
from tests.local.aws.server_process import INFRA, ServerProcess

VPC = "aws:ec2/vpc:Vpc"


def classes_that_components_make() -> set[str]:
    """`pulumi_aws.<module>.<Class>` of every resource that a component of ours makes."""
    sources = [path.read_text() for path in (INFRA / "tandem").rglob("*.py")]
    made = {f"pulumi_{name}" for source in sources for name in re.findall(r"\b(aws\.\w+\.[A-Z]\w+)\(", source)}
    return {name for name in made if not name.endswith("Args")}


def test_the_stand_in_has_every_type_that_the_stacks_use() -> None:
    made = classes_that_components_make()
    assert len(made) > 30, "the components are read"
    assert made <= {generate.class_of(kind) for kind in registry.types()}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of modules that the SDK still carries
def test_the_schema_is_that_of_the_installed_sdk() -> None:
    assert json.loads(generate.SCHEMA.read_text()) == generate.current_schema(), (
        "run python -m local.aws.plugin.generate"
    )


def test_an_object_whose_creation_stops_half_way_is_known_to_the_engine(driver: Driver) -> None:
    kind = "aws:ec2/internetGateway:InternetGateway"
    with pytest.raises(Aborted, match="exists but is not finished"):
        driver.create(kind, "half", {"vpcId": "vpc-00000000000000000"})
    ((key, value),) = driver.context.metadata
    assert key == "grpc-status-details-bin"
    detail = provider_pb2.ErrorResourceInitFailed()
    assert status_pb2.Status.FromString(value).details[0].Unpack(detail)
    assert detail.id.startswith("igw-"), "its id"
    assert "vpc-00000000000000000" in detail.reasons[0], "and why"


def test_tags_of_an_object_that_stopped_half_way_are_set_all_the_same(driver: Driver, server: ServerProcess) -> None:
    with pytest.raises(Aborted):
        driver.create("aws:ec2/internetGateway:InternetGateway", "half", {"vpcId": "vpc-0", "tags": {"half": "way"}})
    tagged = server.client("ec2").describe_tags(Filters=[{"Name": "key", "Values": ["half"]}])["Tags"]
    assert len(tagged) == 1, "so that whoever cleans up finds whose it is"


def test_what_moto_does_not_keep_is_recorded_said_and_read_back(driver: Driver, server: ServerProcess) -> None:
    kind = "aws:secretsmanager/secret:Secret"
    program = {"name": "recorded", "recoveryWindowInDays": 0, "forceOverwriteReplicaSecret": True}
    made = driver.create(kind, "recorded", program)
    assert made.outputs["__simulated"] == "recorded only: forceOverwriteReplicaSecret, recoveryWindowInDays"
    imported = driver.imported(kind, "recorded", made.id)
    assert imported is not None
    assert driver.diff(imported, program).changes == UNCHANGED, "an import finds it"
    driver.delete(made)
    assert driver.imported(kind, "recorded", made.id) is None
    assert driver.provider._configured.cloud().recorded(kind, made.id) is None, "nothing is left of it"


def test_a_value_switched_off_against_its_default_is_a_change(driver: Driver) -> None:
    made = driver.create(VPC, "off", {"cidrBlock": "10.9.0.0/16"})
    assert made.outputs["enableDnsSupport"] is True
    answer = driver.diff(made, {"cidrBlock": "10.9.0.0/16", "enableDnsSupport": False})
    assert list(answer.detailedDiff) == ["enableDnsSupport"]


def test_rules_without_a_priority_get_one_each(driver: Driver, server: ServerProcess) -> None:
    ec2 = server.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.8.{n}.0/24", AvailabilityZone=f"us-east-1{z}")["Subnet"]["SubnetId"]
        for n, z in enumerate("ab")
    ]
    balancer = driver.create("aws:lb/loadBalancer:LoadBalancer", "plain", {"name": "plain", "subnets": subnets})
    answer = {"type": "fixed-response", "fixedResponse": {"contentType": "text/plain", "statusCode": "404"}}
    listener = driver.create(
        "aws:lb/listener:Listener",
        "plain",
        {"loadBalancerArn": balancer.id, "port": 80, "protocol": "HTTP", "defaultActions": [answer]},
    )
    priorities = [
        driver.create(
            "aws:lb/listenerRule:ListenerRule",
            path,
            {"listenerArn": listener.id, "conditions": [{"pathPattern": {"values": [path]}}], "actions": [answer]},
        ).outputs["priority"]
        for path in ("/a", "/b")
    ]
    assert priorities == [1, 2]


def test_a_budget_keeps_whom_it_notifies_when_its_limit_changes(driver: Driver, server: ServerProcess) -> None:
    kind = "aws:budgets/budget:Budget"
    notice = {
        "comparisonOperator": "GREATER_THAN",
        "notificationType": "ACTUAL",
        "threshold": 80,
        "thresholdType": "PERCENTAGE",
        "subscriberEmailAddresses": ["ops@example.com"],
    }
    program = {"name": "kept", "budgetType": "COST", "timeUnit": "MONTHLY", "limitAmount": "1", "limitUnit": "USD"}
    made = driver.create(kind, "kept", {**program, "notifications": [notice]})

    def thresholds() -> list[float]:
        client = server.client("budgets")
        answer = client.describe_notifications_for_budget(AccountId="123456789012", BudgetName="kept")
        return sorted(entry["Threshold"] for entry in answer["Notifications"])

    assert thresholds() == [80.0]
    changed = driver.update(made, {**program, "limitAmount": "2", "notifications": [notice]})
    assert thresholds() == [80.0]
    driver.update(changed, {**program, "limitAmount": "2", "notifications": [{**notice, "threshold": 90}]})
    assert thresholds() == [90.0]


@pytest.mark.parametrize(
    ("destination", "value"),
    [("destinationCidrBlock", "0.0.0.0/0"), ("destinationIpv6CidrBlock", "::/0")],
)
def test_a_route_has_one_destination_of_any_kind(
    driver: Driver, server: ServerProcess, destination: str, value: str
) -> None:
    ec2, kind = server.client("ec2"), "aws:ec2/route:Route"
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    program = {"routeTableId": table, destination: value, "gatewayId": gateway}
    made = driver.create(kind, "route", program)
    imported = driver.imported(kind, "route", f"{table}_{value}")
    assert imported is not None and imported.id == made.id
    assert driver.diff(imported, program).changes == UNCHANGED
    driver.delete(made)
    assert driver.refresh(made) is None


@pytest.mark.parametrize("given", [{}, {"destinationCidrBlock": "0.0.0.0/0", "destinationIpv6CidrBlock": "::/0"}])
def test_a_route_with_none_or_two_destinations_is_refused(driver: Driver, given: dict[str, str]) -> None:
    found = driver.failures("aws:ec2/route:Route", "route", {"routeTableId": "rtb-1", "gatewayId": "igw-1", **given})
    assert "Give just one" in found["destinationCidrBlock"]


def test_a_security_group_rule_has_one_peer(driver: Driver) -> None:
    kind = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    rule = {"securityGroupId": "sg-1", "ipProtocol": "-1"}
    assert "Give just one" in driver.failures(kind, "rule", rule)["cidrIpv4"]
    two = {**rule, "cidrIpv4": "10.0.0.0/8", "referencedSecurityGroupId": "sg-2"}
    assert "Give just one" in driver.failures(kind, "rule", two)["cidrIpv4"]
    assert not driver.failures(kind, "rule", {**rule, "cidrIpv4": "10.0.0.0/8"})


def test_a_rule_that_the_local_load_balancer_does_not_serve_is_refused(driver: Driver) -> None:
    found = driver.failures(
        "aws:lb/listenerRule:ListenerRule",
        "rule",
        {
            "listenerArn": "arn",
            "conditions": [{"queryStrings": [{"value": "x"}]}],
            "actions": [{"type": "jwt-validation", "jwtValidation": {"issuer": "x", "jwksEndpoint": "x"}}],
        },
    )
    assert set(found) == {"conditions[0].queryStrings", "actions[0].jwtValidation"}


def test_a_secret_of_a_chosen_stage_is_that_one_and_comes_marked(driver: Driver, server: ServerProcess) -> None:
    client = server.client("secretsmanager")
    client.create_secret(Name="staged", SecretString="old")
    client.put_secret_value(SecretId="staged", SecretString="new")
    function = "aws:secretsmanager/getSecretVersion:getSecretVersion"
    for stage, value in (("AWSCURRENT", "new"), ("AWSPREVIOUS", "old")):
        found = from_struct(driver.invoke(function, secretId="staged", versionStage=stage))
        assert found["secretString"] == Secret(value)
    assert from_struct(driver.invoke(function, secretId="staged"))["secretString"] == Secret("new")


def test_a_wrong_import_id_is_said_in_one_sentence(driver: Driver) -> None:
    with pytest.raises(Aborted, match=r"just-an-id - a web ACL is imported by <id>/<name>/<scope>"):
        driver.imported("aws:wafv2/webAcl:WebAcl", "acl", "just-an-id")


def test_a_launch_template_with_other_tags_has_no_new_version(driver: Driver) -> None:
    kind = "aws:ec2/launchTemplate:LaunchTemplate"
    made = driver.create(kind, "tagged", {"name": "tagged", "instanceType": "m5.large"})
    changed = driver.update(made, {"name": "tagged", "instanceType": "m5.large", "tags": {"a": "b"}})
    assert changed.outputs["latestVersion"] == made.outputs["latestVersion"]


def test_a_deletion_that_waits_ends_when_the_engine_cancels() -> None:
    session = Session(endpoint="http://127.0.0.1:9", account="1", region="us-east-1")
    calls: list[float] = []

    def busy() -> Any:
        calls.append(time.monotonic())
        session.cancelled.set()
        raise ClientError({"Error": {"Code": "DependencyViolation", "Message": "in use"}}, "Delete")

    with pytest.raises(ClientError, match="in use"):
        session.cloud().until_free(busy)
    assert len(calls) == 1, "it is not tried again"


def test_the_journal_replays_what_is_added_beside_moto(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "aws") as first:
        client = first.client("ec2")
        vpc = client.create_vpc(CidrBlock="10.6.0.0/16")["Vpc"]["VpcId"]
        groups = [client.create_security_group(GroupName=n, Description=n, VpcId=vpc)["GroupId"] for n in ("a", "b")]
        rule = client.authorize_security_group_ingress(
            GroupId=groups[0],
            IpPermissions=[
                {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "UserIdGroupPairs": [{"GroupId": groups[0]}]}
            ],
        )["SecurityGroupRules"][0]["SecurityGroupRuleId"]
        change = {"IpProtocol": "tcp", "FromPort": 2, "ToPort": 3, "ReferencedGroupId": groups[1], "Description": "two"}
        client.modify_security_group_rules(
            GroupId=groups[0], SecurityGroupRules=[{"SecurityGroupRuleId": rule, "SecurityGroupRule": change}]
        )
        first.kill()
    with ServerProcess(tmp_path / "aws") as second:
        answer = second.client("ec2").describe_security_group_rules(SecurityGroupRuleIds=[rule])
        (found,) = answer["SecurityGroupRules"]
    assert found["ReferencedGroupInfo"]["GroupId"] == groups[1], "EC2 moves a rule to another group in place"
    assert (found["FromPort"], found["ToPort"], found["Description"]) == (2, 3, "two")
