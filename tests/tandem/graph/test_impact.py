"""What a change of the dev environment's stack files would do."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tandem.config.load import parse_stack
from tandem.config.stack import Stack
from tandem.errors import TandemError
from tandem.facts.replacements import behaviour
from tandem.graph import record
from tandem.ops import diff
from tandem.ops import environment as environments
from tandem.plan.cost import site_cost
from tandem.plan.impact import Change, Kind, Resource, changes, joined

from tests.tandem.stacks import data, load

BEHAVIOUR_OF_THE_STAND_IN = Path(__file__).parents[3] / "infra" / "local" / "aws" / "plugin" / "behaviour.json"
ORDER = ("dev-registry", "dev-network", "dev-cluster", "dev-edge")
Edit = Callable[[dict[str, Any]], object]


def resources(stacks: dict[str, Stack]) -> dict[str, dict[str, Resource]]:
    """The graphs of stacks, by URN."""
    graphs = record.environment(stacks)
    return {name: {resource.urn: resource for resource in graph.resources} for name, graph in graphs.items()}


@pytest.fixture(scope="module")
def before() -> dict[str, dict[str, Resource]]:
    return resources({name: load(name) for name in ORDER})


def changed(before: dict[str, dict[str, Resource]], name: str, edit: Edit) -> dict[str, Change]:
    """Changes of one stack after its file is edited, by the resource's type and name."""
    description = data(name)
    edit(description)
    stacks = {stack: load(stack) for stack in ORDER} | {name: parse_stack(description, name)}
    found = changes(before[name], resources(stacks)[name])
    return {change.urn.split("$")[-1]: change for change in found}


def of_type(found: dict[str, Change], kind: str) -> list[Change]:
    return [change for key, change in found.items() if key.split("::")[0].endswith(kind)]


def test_nothing_changes_where_nothing_was_edited(before: dict[str, dict[str, Resource]]) -> None:
    for name in ORDER:
        assert changed(before, name, lambda _: None) == {}, name


def test_another_instance_type_rolls_the_node_group_and_does_not_replace_it(
    before: dict[str, dict[str, Resource]],
) -> None:
    def edit(stack: dict[str, Any]) -> None:
        stack["node_groups"]["bandwidth"]["instance_type"] = "g7e.48xlarge"

    found = changed(before, "dev-cluster", edit)
    (group,) = of_type(found, "eks/nodeGroup:NodeGroup")
    assert group.kind is Kind.UPDATE and "new version" in " ".join(group.inputs)
    assert "15 min" in group.downtime
    assert [change.kind for change in of_type(found, "LaunchTemplate")] == [Kind.UPDATE]


def test_another_address_range_replaces_the_vpc_and_all_that_stands_in_it(
    before: dict[str, dict[str, Resource]],
) -> None:
    found = changed(before, "dev-network", lambda stack: stack["vpc"].update(cidr="10.30.0.0/16"))
    (vpc,) = of_type(found, "ec2/vpc:Vpc")
    assert (vpc.kind, vpc.forced_by) == (Kind.REPLACE, ("cidrBlock",))
    assert "whole site is down" in vpc.downtime
    groups = of_type(found, "ec2/securityGroup:SecurityGroup")
    assert groups and all(change.kind is Kind.REPLACE for change in groups)
    assert all("which is replaced" in change.forced_by[0] for change in groups), "their own inputs are the same"


def test_a_replaced_network_replaces_what_other_stacks_put_into_it() -> None:
    description = data("dev-network")
    description["vpc"]["cidr"] = "10.30.0.0/16"
    stacks = {name: load(name) for name in ORDER}
    edited = resources(stacks | {"dev-network": parse_stack(description, "dev-network")})
    uses = {name: tuple(stack.uses.values()) for name, stack in stacks.items()}
    found = changes(joined(resources(stacks), uses), joined(edited, uses))
    groups = [change for change in found if change.urn.split("::")[2].endswith("eks/nodeGroup:NodeGroup")]
    assert len(groups) == 3 and all(change.kind is Kind.REPLACE for change in groups)
    assert all("subnetIds" in " ".join(change.forced_by) for change in groups)


def test_the_number_of_nodes_is_the_autoscalers(before: dict[str, dict[str, Resource]]) -> None:
    found = changed(before, "dev-cluster", lambda stack: stack["node_groups"]["compute"].update(nodes=2))
    assert found == {}


def test_a_part_that_is_left_out_is_deleted_and_one_that_is_added_created(
    before: dict[str, dict[str, Resource]],
) -> None:
    found = changed(before, "dev-edge", lambda stack: stack.pop("firewall"))
    assert {change.kind for change in of_type(found, "WebAcl")} == {Kind.DELETE}
    without = data("dev-edge")
    del without["firewall"]
    graph = resources({name: load(name) for name in ORDER} | {"dev-edge": parse_stack(without, "dev-edge")})
    back = {change.urn: change.kind for change in changes(graph["dev-edge"], before["dev-edge"])}
    assert Kind.CREATE in back.values() and Kind.DELETE not in back.values()


def test_the_difference_tells_the_money() -> None:
    def graphs(stack: Stack) -> dict[str, Any]:
        parts = site_cost({"dev-cluster": stack}).parts
        return {"dev-cluster": {"resources": [], "uses": [], "cost": {part.name: part.usd_per_hour for part in parts}}}

    description = data("dev-cluster")
    description["node_groups"]["compute"]["nodes"] = 2
    found = diff.compare("dev", graphs(load("dev-cluster")), graphs(parse_stack(description, "dev-cluster")))
    assert found.usd_per_hour_after > found.usd_per_hour_before
    assert found.costs and all(delta > 0 and "compute" in part for part, delta in found.costs.items())


def test_a_graph_survives_its_file(before: dict[str, dict[str, Resource]]) -> None:
    rows = [asdict(resource) for resource in before["dev-edge"].values()]
    graph = {"dev-edge": {"resources": json.loads(json.dumps(rows)), "uses": [], "cost": {}}}
    assert diff.compare("dev", graph, graph).changes == {}


def test_an_environment_without_a_record_is_told_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(TandemError, match="tandem diff dev --record"):
        diff.read(environments.load("dev"), tmp_path)


def test_the_stand_in_replaces_for_the_same_inputs() -> None:
    table = json.loads(BEHAVIOUR_OF_THE_STAND_IN.read_text(encoding="utf-8"))["resources"]
    assert table
    for kind, facts in table.items():
        assert set(facts.get("force_new", ())) <= set(behaviour(kind).force_new), kind
