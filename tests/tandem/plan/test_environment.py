"""An environment's stacks, judged together before any of them is applied."""

from __future__ import annotations

import pytest
from tandem.config.load import parse_stack
from tandem.config.serving import ServingStack
from tandem.config.stack import Stack
from tandem.plan.environment import environment_faults

from tests.tandem.stacks import data, load, names


def environment(name: str, **changed: dict[str, object]) -> dict[str, Stack]:
    """An environment's stacks, some of them changed by the test: kind -> description."""
    stacks = {stack: load(stack) for stack in names(name)}
    return stacks | {f"{name}-{kind}": parse_stack(description, kind) for kind, description in changed.items()}


@pytest.mark.parametrize("name", ["local", "dev"])
def test_the_checkouts_own_environments_can_be_built(name: str) -> None:
    assert environment_faults(environment(name)) == []


def test_faults_of_several_stacks_are_found_in_one_go() -> None:
    network = data("dev-network") | {"gateway_port": 29000}
    cluster = data("dev-cluster") | {"service_cidr": "10.20.0.0/16"}
    stacks = environment("dev", network=network, cluster=cluster)
    wheres = {fault.where for fault in environment_faults(stacks)}
    assert {
        "stacks/Pulumi.dev-network.yaml: tandem:stack.gateway_port",
        "stacks/Pulumi.dev-cluster.yaml: tandem:stack.service_cidr",
    } <= wheres


def test_two_sites_of_an_environment_have_ranges_of_their_own() -> None:
    second = data("dev-network")
    second["site"] = {"name": "far", "kind": "prefill", "region": "us-east-1"}
    second["vpc"]["cidr"] = "10.20.0.0/16"
    stacks = environment("dev") | {"dev-far-network": parse_stack(second, "x")}
    (fault,) = environment_faults(stacks)
    assert fault.where == "stacks/Pulumi.dev-far-network.yaml: tandem:stack.vpc.cidr"


def test_engines_that_no_node_is_there_for_are_refused() -> None:
    stacks = environment("dev")
    serving = stacks["dev-serving"]
    assert isinstance(serving, ServingStack)
    triple = serving.colours.blue
    assert triple is not None
    # Two engines of two GPUs each would fit the node's four GPUs, but not its one EFA device.
    prefill = triple.prefill.model_copy(update={"replicas": 2, "tensor_parallel": 2})
    colours = serving.colours.model_copy(update={"blue": triple.model_copy(update={"prefill": prefill})})
    (fault,) = environment_faults({**stacks, "dev-serving": serving.model_copy(update={"colours": colours})})
    assert fault.where == "stacks/Pulumi.dev-cluster.yaml: tandem:stack.node_groups.compute.nodes"
    assert fault.rule == "the prefill engines of dev-serving need 2 g6e.12xlarge nodes"
