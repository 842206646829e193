"""Conditions match as the Elastic Load Balancing user guide says."""

from __future__ import annotations

import pytest
from local.edge.binding import ready_targets
from local.edge.choice import WeightedTurns
from local.edge.model import Condition, FixedResponse, Forward, Listener, Rule, Target
from local.edge.rules import Request, find_rule

REQUEST = Request("POST", "API.tandem.example:443", "/v1/models", "user=me&v=2", {"X-Team": "blue"}, "10.1.2.3")


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        (Condition("path-pattern", ("/v1/*",)), True),
        (Condition("path-pattern", ("/V1/*",)), False),
        (Condition("path-pattern", ("/v1/model?",)), True),
        (Condition("path-pattern", ("/v1",)), False),
        (Condition("path-pattern", ("/v1.models",)), False),
        (Condition("host-header", ("api.tandem.example",)), True),
        (Condition("host-header", ("*.tandem.example",)), True),
        (Condition("host-header", ("tandem.example",)), False),
        (Condition("http-request-method", ("GET", "POST")), True),
        (Condition("http-request-method", ("GET",)), False),
        (Condition("http-header", ("bl*",), "X-Team"), True),
        (Condition("http-header", ("*",), "X-Other"), False),
        (Condition("source-ip", ("10.1.0.0/16",)), True),
        (Condition("source-ip", ("10.2.0.0/16", "192.168.0.0/16")), False),
        (Condition("query-string", ("v=2",)), True),
        (Condition("query-string", ("me",)), True),
        (Condition("query-string", ("v=3",)), False),
        (Condition("not-known", ("x",)), False),
    ],
)
def test_a_condition_is_met_or_not(condition: Condition, met: bool) -> None:
    hit, default = FixedResponse(200, "text/plain", "hit"), FixedResponse(404, "text/plain", "default")
    listener = Listener("l", 443, True, (), (Rule("r", (condition,), hit), Rule("d", (), default)))
    headers = dict(REQUEST.headers.items())
    assert find_rule(listener, Request(**{**REQUEST.__dict__, "headers": headers})).action == (hit if met else default)


def test_small_weights_are_spread_and_not_bunched() -> None:
    turns = WeightedTurns()
    forward = Forward((("a", 99), ("b", 1)))
    order = [turns.next(forward) for _ in range(200)]
    assert order.count("b") == 2
    places = [n for n, arn in enumerate(order) if arn == "b"]
    assert places[1] - places[0] == 100


def test_only_ready_pods_of_the_named_service_are_bound() -> None:
    binding = {"metadata": {"namespace": "tandem"}, "spec": {"serviceRef": {"name": "gateway", "port": 8080}}}

    def item(service: str, namespace: str, address: str, **conditions: bool) -> dict[str, object]:
        return {
            "metadata": {"namespace": namespace, "labels": {"kubernetes.io/service-name": service}},
            "ports": [{"name": "http", "port": 30000}],
            "endpoints": [{"addresses": [address], "conditions": conditions}],
        }

    slices = [
        item("gateway", "tandem", "10.0.0.1", ready=True),
        item("gateway", "tandem", "10.0.0.2", ready=False),
        item("gateway", "tandem", "10.0.0.3", ready=True, terminating=True),
        item("gateway", "other", "10.0.0.4", ready=True),
        item("prefill", "tandem", "10.0.0.5", ready=True),
    ]
    assert ready_targets(binding, slices) == {Target("10.0.0.1", 30000)}
