"""The registry, network, cluster and edge stacks, applied by the real engine to the stand-in for AWS."""

from __future__ import annotations

import boto3
import pytest

from tests.tandem.programs.conftest import Project

pytestmark = pytest.mark.engine

ORDER = ("registry", "network", "cluster", "edge")


@pytest.fixture(scope="module")
def site(project: Project) -> Project:
    """The local environment's stacks, applied."""
    for kind in ORDER:
        project.up(f"local-{kind}")
    return project


def client(project: Project, service: str) -> object:
    """An SDK client at the stand-in, as somebody who goes past Pulumi."""
    return boto3.client(
        service,
        endpoint_url=project.environment["AWS_ENDPOINT_URL"],
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )


@pytest.mark.parametrize("kind", ORDER)
def test_a_stack_that_was_applied_has_nothing_left_to_change(site: Project, kind: str) -> None:
    site.pulumi("preview", "-s", f"local-{kind}", "--expect-no-changes")


@pytest.mark.parametrize("kind", ORDER)
def test_aws_holds_what_the_state_says(site: Project, kind: str) -> None:
    site.pulumi("refresh", "-s", f"local-{kind}", "--yes", "--expect-no-changes")


def test_applying_a_stack_changes_no_file_of_the_project(site: Project) -> None:
    for kind in ORDER:
        name = f"stacks/Pulumi.local-{kind}.yaml"
        original = (site.folder / "infra").resolve().parent / name
        assert (site.folder / name).read_bytes() == original.read_bytes(), name


def test_the_stacks_tell_one_another_their_contracts(site: Project) -> None:
    assert site.outputs("local-network")["network"]["gateway_port"] == 8080
    assert len(site.outputs("local-cluster")["cluster"]["node_groups"]) == 3
    assert set(site.outputs("local-edge")["edge"]["target_groups"]) == {"blue", "green"}


def test_weights_that_the_rollout_moved_stay_where_it_put_them(site: Project) -> None:
    edge = site.outputs("local-edge")["edge"]
    balancer = client(site, "elbv2")
    (rule,) = balancer.describe_rules(RuleArns=[edge["rule_arn"]])["Rules"]  # type: ignore[attr-defined]
    action = rule["Actions"][0]
    for group in action["ForwardConfig"]["TargetGroups"]:
        group["Weight"] = 50
    balancer.modify_rule(RuleArn=edge["rule_arn"], Actions=[action])  # type: ignore[attr-defined]
    site.up("local-edge")
    (rule,) = balancer.describe_rules(RuleArns=[edge["rule_arn"]])["Rules"]  # type: ignore[attr-defined]
    weights = [group["Weight"] for group in rule["Actions"][0]["ForwardConfig"]["TargetGroups"]]
    assert weights == [50, 50]


def test_nodes_that_an_autoscaler_added_stay(site: Project) -> None:
    cluster = site.outputs("local-cluster")["cluster"]
    group = next(group for group in cluster["node_groups"] if group["node_class"] == "compute")
    name = {"clusterName": cluster["name"], "nodegroupName": group["name"]}
    eks = client(site, "eks")
    eks.update_nodegroup_config(**name, scalingConfig={"minSize": 1, "maxSize": 4, "desiredSize": 3})  # type: ignore[attr-defined]
    site.up("local-cluster")
    found = eks.describe_nodegroup(**name)["nodegroup"]["scalingConfig"]  # type: ignore[attr-defined]
    assert found["desiredSize"] == 3


def test_a_whole_environment_can_be_previewed_before_any_of_it_exists(site: Project) -> None:
    for kind in ORDER:
        site.pulumi("stack", "select", "--create", f"dev-{kind}")
    for kind in ORDER:
        said = site.pulumi("preview", "-s", f"dev-{kind}")
        assert "to create" in said


def test_an_applied_stack_that_reads_one_that_was_not_is_refused_before_anything_is_made(site: Project) -> None:
    site.pulumi("stack", "select", "--create", "dev-network")
    site.pulumi("stack", "select", "--create", "dev-edge")
    said = site.pulumi("up", "-s", "dev-edge", "--yes", "--skip-preview", fails=True)
    assert "Run: pulumi up -s dev-network" in said
    assert "Traceback" not in said
