"""What an edge stack's file may say."""

from __future__ import annotations

from tests.tandem.stacks import data, faults, only_fault


def test_only_inference_paths_reach_the_gateways() -> None:
    edge = data("dev-edge")
    edge["paths"] = ["/v1/models", "/workers"]
    assert "/workers is not part of the inference API" in only_fault(edge).rule


def test_a_rule_takes_five_paths_at_most() -> None:
    edge = data("dev-edge")
    edge["paths"] = [f"/v1/{number}" for number in range(6)]
    assert only_fault(edge).where.endswith("paths")


def test_a_certificate_of_another_region_is_refused() -> None:
    edge = data("dev-edge")
    arn = "arn:aws:acm:{}:123456789012:certificate/0"
    edge["certificate"] = {"kind": "existing", "arn": arn.format("eu-west-1")}
    assert "own region and account" in only_fault(edge).rule
    edge["certificate"]["arn"] = arn.format("us-east-1")
    assert faults(edge) == []


def test_an_idle_timeout_above_the_load_balancers_own_limit_is_refused() -> None:
    edge = data("dev-edge")
    edge["idle_timeout"] = 4001
    assert only_fault(edge).where.endswith("idle_timeout")


def test_a_domain_is_a_dns_name() -> None:
    edge = data("dev-edge")
    edge["domain"] = "https://llm.example.com"
    assert only_fault(edge).where.endswith("domain")
