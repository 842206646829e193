"""What a serving stack declares."""

from __future__ import annotations

import json

import pytest
from pulumi.runtime import rpc
from tandem.components.api_keys import parse_api_keys
from tandem.errors import TandemError
from tandem.outputs.serving import ServingOutputs

from tests.tandem.components.conftest import BuildStack
from tests.tandem.engine_mocks import Built

SERVING = ("local-serving", "dev-serving")


def deployments(built: Built) -> dict[str, dict[str, object]]:
    return {d.name: dict(d.inputs) for d in built.of("apps/v1:Deployment")}


@pytest.mark.parametrize("stack", SERVING)
def test_one_colour_is_three_deployments_behind_one_binding(build: BuildStack, stack: str) -> None:
    built = build(stack)
    assert set(deployments(built)) == {"blue-gateways", "blue-prefill-engines", "blue-decode-engines"}
    binding = built.one("TargetGroupBinding").inputs
    assert binding["spec"]["serviceRef"]["name"] == "gateway-blue"


@pytest.mark.parametrize("stack", SERVING)
def test_every_object_goes_through_the_stacks_own_provider(build: BuildStack, stack: str) -> None:
    built = build(stack)
    objects = [d for d in built.declared if d.type.startswith("kubernetes:")]
    assert len(objects) > 20
    assert {d.provider.split("::")[-2] for d in objects} == {"kubernetes"}


def test_the_kubeconfig_holds_a_command_and_no_secret(build: BuildStack) -> None:
    (provider,) = [d for d in build("local-serving").declared if d.type == "pulumi:providers:kubernetes"]
    config = json.loads(provider.inputs["kubeconfig"])
    assert config["clusters"][0]["cluster"] == {
        "server": "https://cluster.test",
        "certificate-authority-data": "Y2E=",
    }
    user = config["users"][0]["user"]
    assert list(user) == ["exec"] and user["exec"]["args"][0] == "cluster-token"


def test_the_secret_holds_both_keys_under_the_names_that_the_pods_ask_for(build: BuildStack) -> None:
    secret = build("local-serving").one("v1:Secret").inputs
    assert secret["metadata"]["name"] == "gateway-api-keys"
    data = secret["stringData"]
    assert rpc._special_sig_key in data, "the engine is told that it is a secret"
    assert set(data["value"]) == {"api_key", "admin_api_key"}


def test_what_is_told_to_others_holds_no_key(build: BuildStack) -> None:
    exported = build("local-serving").exported
    assert "test-key" not in json.dumps(exported)
    told = ServingOutputs.model_validate(exported["serving"])
    (triple,) = told.triples.values()
    assert triple.simulated and triple.deployments["prefill"].endswith(triple.pair_revision)
    assert triple.kv_bytes_per_token == 131072


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"api_key": "a"}', '{"api_key": "a", "admin_api_key": ""}', '{"api_key": 1, "admin_api_key": 2}'],
)
def test_a_secret_without_both_keys_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(TandemError, match="not shown") as refused:
        parse_api_keys(text, "arn:test")
    assert refused.value.__cause__ is None
    assert "tandem secrets put" in str(refused.value)


def test_clients_never_hold_the_key_of_administration() -> None:
    with pytest.raises(TandemError, match="another one"):
        parse_api_keys('{"api_key": "same", "admin_api_key": "same"}', "arn:test")
    assert parse_api_keys('{"api_key": "a", "admin_api_key": "b"}', "arn") == {"api_key": "a", "admin_api_key": "b"}
