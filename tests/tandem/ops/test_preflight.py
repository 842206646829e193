"""What preflight says of given readings: each check's three answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tandem.config.cluster import ClusterStack
from tandem.ops.preflight import buckets, edge, identity, instance_types, kubernetes, name_lengths, quotas, reservations
from tandem.ops.preflight.account import (
    Caller,
    CertificateState,
    Decision,
    ReservationState,
    VersionSupport,
    ZoneState,
)
from tandem.ops.preflight.answers import Answer, Known, Unread, Verdict, fails, judged, ok, unchecked
from tandem.ops.preflight.run import Preflight
from tandem.plan.node_groups import NodeGroupPlan, plan_node_group

from tests.tandem.stacks import load

NOW = datetime(2026, 12, 1, tzinfo=UTC)
STANDARD = VersionSupport("STANDARD_SUPPORT", NOW + timedelta(days=200))
ISSUED = CertificateState("ISSUED", ("*.dev.example.com",), NOW + timedelta(days=200))
BLOCK = ReservationState("active", "use1-az4", "g7e.24xlarge", 2, block=False, ends=None)


def group() -> NodeGroupPlan:
    """The decode nodes of dev, out of a reservation."""
    stack = load("dev-cluster")
    assert isinstance(stack, ClusterStack)
    return replace(plan_node_group("bandwidth", stack.node_groups["bandwidth"], ("use1-az4",)), reservation_id="cr-1")


def test_without_a_reading_there_is_no_judgement() -> None:
    judge = lambda allowed: quotas.judge_quota(allowed, 1, "L-1", "us-east-1")  # noqa: E731
    assert judged(Unread("AccessDenied"), judge) == unchecked("AccessDenied")
    assert judged(Known(10.0), judge).verdict is Verdict.OK


def test_a_quota_below_the_largest_size_fails_with_the_command_that_raises_it() -> None:
    answer = quotas.judge_quota(64, 192, "L-DB2E81BA", "us-east-1")
    assert answer.verdict is Verdict.FAILS
    assert "--quota-code L-DB2E81BA --desired-value 192 --region us-east-1" in answer.fix
    assert quotas.judge_quota(192, 192, "L-DB2E81BA", "us-east-1").verdict is Verdict.OK


@pytest.mark.parametrize(
    ("instance_type", "family"),
    [("p5en.48xlarge", "P"), ("g6e.12xlarge", "G and VT"), ("gr6.4xlarge", "G and VT"), ("m7i.2xlarge", "standard")],
)
def test_a_type_draws_from_the_quota_of_its_family(instance_type: str, family: str) -> None:
    assert quotas.family(instance_type) == family


def test_every_region_asks_the_four_quotas_of_gpu_types() -> None:
    names = [check.name for check in quotas.checks({"dev-cluster": load("dev-cluster")})]
    for code in ("L-417A185B", "L-DB2E81BA", "L-7212CCBC", "L-3819A6DF"):
        assert sum(code in name for name in names) == 1, code


def test_a_type_that_a_zone_lacks_fails_and_says_where_it_is() -> None:
    answer = instance_types.judge_offering(frozenset({("p5.48xlarge", "use1-az6")}), "p5.48xlarge", ("use1-az4",))
    assert answer.verdict is Verdict.FAILS and "use1-az6" in answer.detail
    offered = frozenset({("p5.48xlarge", "use1-az4")})
    assert instance_types.judge_offering(offered, "p5.48xlarge", ("use1-az4",)).verdict is Verdict.OK


def test_a_launch_template_may_not_ask_for_more_efa_devices_than_the_type_has() -> None:
    assert instance_types.judge_efa(1, "g6e.12xlarge", 2).verdict is Verdict.FAILS
    assert instance_types.judge_efa(2, "g6e.12xlarge", 2).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("found", "support", "verdict"),
    [
        (STANDARD, "standard", Verdict.OK),
        (VersionSupport("STANDARD_SUPPORT", NOW + timedelta(days=59)), "standard", Verdict.FAILS),
        (VersionSupport("EXTENDED_SUPPORT", NOW), "standard", Verdict.FAILS),
        (VersionSupport("EXTENDED_SUPPORT", NOW), "extended", Verdict.OK),
        (VersionSupport("UNSUPPORTED", NOW), "extended", Verdict.FAILS),
        (None, "standard", Verdict.FAILS),
    ],
)
def test_a_version_has_standard_support_for_sixty_more_days(
    found: VersionSupport | None, support: str, verdict: Verdict
) -> None:
    assert kubernetes.judge_version(found, "1.35", support, NOW).verdict is verdict


def test_a_node_image_is_of_the_clusters_version_and_amazon_has_it() -> None:
    name = kubernetes.image_name("1.35", "nvidia", "1.35.2-20261115")
    assert name == "amazon-eks-node-al2023-x86_64-nvidia-1.35-v20261115"
    assert kubernetes.judge_image((name,), name, "1.35.2-20261115", "1.35").verdict is Verdict.OK
    assert kubernetes.judge_image((name,), name, "1.34.2-20261115", "1.35").verdict is Verdict.FAILS
    assert kubernetes.judge_image((), name, "1.35.2-20261115", "1.35").verdict is Verdict.FAILS


def test_a_reservation_that_fits_is_ok() -> None:
    assert reservations.judge_reservation(BLOCK, group()).verdict is Verdict.OK


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (replace(BLOCK, state="scheduled"), "scheduled"),
        (replace(BLOCK, zone_id="use1-az6"), "use1-az6"),
        (replace(BLOCK, instance_type="p5.48xlarge"), "p5.48xlarge"),
        (replace(BLOCK, instances=1), "nodes_max is 2"),
        (replace(BLOCK, block=True), "Capacity Block"),
        (None, "no such reservation"),
    ],
)
def test_a_reservation_that_cannot_serve_the_nodes_fails(found: ReservationState | None, told: str) -> None:
    answer = reservations.judge_reservation(found, group())
    assert answer.verdict is Verdict.FAILS and told in answer.detail


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (ISSUED, Verdict.OK),
        (replace(ISSUED, status="PENDING_VALIDATION"), Verdict.FAILS),
        (replace(ISSUED, names=("other.example.com",)), Verdict.FAILS),
        (replace(ISSUED, expires=NOW + timedelta(days=29)), Verdict.FAILS),
        (None, Verdict.FAILS),
    ],
)
def test_a_certificate_is_issued_for_the_domain_and_lasts(found: CertificateState | None, verdict: Verdict) -> None:
    assert edge.judge_certificate(found, "llm.dev.example.com", NOW).verdict is verdict


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (ZoneState("dev.example.com", private=False), Verdict.OK),
        (ZoneState("dev.example.com", private=True), Verdict.FAILS),
        (ZoneState("v.example.com", private=False), Verdict.FAILS),
        (None, Verdict.FAILS),
    ],
)
def test_a_hosted_zone_is_public_and_holds_the_domain(found: ZoneState | None, verdict: Verdict) -> None:
    assert edge.judge_zone(found, "llm.dev.example.com").verdict is verdict


def test_a_caller_of_another_account_fails() -> None:
    caller = Caller("111111111111", "arn:aws:iam::111111111111:user/somebody")
    assert identity.judge_caller(caller, "123456789012").verdict is Verdict.FAILS
    assert identity.judge_caller(caller, "111111111111").verdict is Verdict.OK


def test_an_action_that_hangs_on_unknown_conditions_is_not_called_allowed() -> None:
    allowed, depends = Decision("allowed", ()), Decision("allowed", ("aws:SourceIp",))
    denied = Decision("implicitDeny", ())
    assert identity.judge_actions({"ec2:CreateVpc": allowed}).verdict is Verdict.OK
    assert identity.judge_actions({"ec2:CreateVpc": depends}).verdict is Verdict.UNCHECKED
    answer = identity.judge_actions({"ec2:CreateVpc": denied, "eks:CreateCluster": depends})
    assert answer.verdict is Verdict.FAILS and "ec2:CreateVpc" in answer.detail


def test_every_kind_of_stack_has_actions() -> None:
    assert {
        load(name).kind for name in ("dev-registry", "dev-network", "dev-cluster", "dev-edge", "dev-serving")
    } <= set(identity.ACTIONS)


def test_only_aws_itself_knows_that_a_buckets_name_is_free() -> None:
    assert buckets.judge_bucket(True, simulated=True).verdict is Verdict.OK
    assert buckets.judge_bucket(False, simulated=True).verdict is Verdict.UNCHECKED
    assert buckets.judge_bucket(False, simulated=False).verdict is Verdict.OK


def test_a_name_over_its_limit_fails_with_how_much() -> None:
    stack = load("dev-registry")
    long = stack.model_copy(update={"environment": "e" * 24, "site": stack.site.model_copy(update={"name": "s" * 24})})
    assert name_lengths.judge_names(stack).verdict is Verdict.OK
    answer = name_lengths.judge_names(long)
    assert answer.verdict is Verdict.FAILS and "at most 63" in answer.detail


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ((ok("a"),), 0),
        ((ok("a"), unchecked("b")), 6),
        ((ok("a"), unchecked("b"), fails("c", "d")), 1),
    ],
)
def test_the_exit_code_tells_a_failure_from_what_nobody_could_look_at(answers: tuple[Answer, ...], code: int) -> None:
    given = {str(index): answer for index, answer in enumerate(answers)}
    assert Preflight("dev", None, given).exit_code == code
