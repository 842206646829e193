"""What an edge stack declares."""

from __future__ import annotations

import pulumi
import pytest
from tandem import limits
from tandem.components import load_balancer
from tandem.config.base import Colour
from tandem.outputs.edge import EdgeOutputs

from tests.tandem.components.conftest import BuildStack


def test_everything_but_the_inference_paths_is_answered_404_at_the_edge(build: BuildStack) -> None:
    edge = build("dev-edge")
    (default,) = edge.one("lb/listener:Listener").inputs["defaultActions"]
    assert default["fixedResponse"]["statusCode"] == "404"
    (condition,) = edge.one("ListenerRule").inputs["conditions"]
    assert condition["pathPattern"]["values"] == ["/v1/chat/completions", "/v1/completions", "/v1/models"]


def test_the_listener_speaks_modern_tls_on_443_only(build: BuildStack) -> None:
    listener = build("dev-edge").one("lb/listener:Listener").inputs
    assert (listener["port"], listener["protocol"]) == (443, "HTTPS")
    assert "TLS13" in listener["sslPolicy"]


def test_all_traffic_starts_on_the_live_colour(build: BuildStack) -> None:
    (action,) = build("dev-edge").one("ListenerRule").inputs["actions"]
    weights = [(group["arn"].rsplit(":", 1)[-1], group["weight"]) for group in action["forward"]["targetGroups"]]
    assert weights == [("gateway-blue", 100), ("gateway-green", 0)]


def test_the_rollout_owns_the_weights_and_nothing_beside_them(
    build_again: BuildStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored: dict[str, list[str]] = {}
    original = load_balancer.aws.lb.ListenerRule

    def declare(name: str, *, opts: pulumi.ResourceOptions, **inputs: object) -> object:
        ignored[name] = list(opts.ignore_changes or [])
        return original(name, opts=opts, **inputs)

    monkeypatch.setattr(load_balancer.aws.lb, "ListenerRule", declare)
    build_again("dev-edge")
    assert ignored == {"edge-inference": ["actions[*].forward.targetGroups[*].weight"]}


def test_gateways_are_drained_for_as_long_as_the_longest_request(build: BuildStack) -> None:
    for group in build("dev-edge").of("TargetGroup"):
        assert group.inputs["deregistrationDelay"] == limits.GATEWAY_REQUEST_TIMEOUT
        assert (group.inputs["targetType"], group.inputs["port"]) == ("ip", limits.GATEWAY_PORT)
        assert "name" not in group.inputs, "a fixed name cannot be replaced while a listener refers to it"


def test_the_certificate_is_proved_in_the_hosted_zone_and_waited_for(build: BuildStack) -> None:
    edge = build("dev-edge")
    proof = next(record for record in edge.of("Record") if record.name == "certificate-proof")
    assert proof.inputs["name"] == "_proof.test"
    assert edge.one("CertificateValidation").inputs["validationRecordFqdns"] == ["_proof.test"]


def test_the_firewall_looks_at_no_body(build: BuildStack) -> None:
    (rule,) = build("dev-edge").one("WebAcl").inputs["rules"]
    assert set(rule["statement"]) == {"rateBasedStatement"}
    assert build("local-edge").of("WebAcl") == []


def test_the_contract_names_both_colours(build: BuildStack) -> None:
    outputs = EdgeOutputs.model_validate(build("local-edge").exported["edge"])
    assert set(outputs.target_groups) == set(Colour)
    assert (outputs.domain, outputs.gateway_port) == ("tandem.local", limits.GATEWAY_PORT)
