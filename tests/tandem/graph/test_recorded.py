"""The recorded graphs are those of the stack files as they stand, and hold no secret."""

from __future__ import annotations

import json

import pytest
from tandem.graph.computed import ANSWERS
from tandem.ops import diff
from tandem.ops import environment as environments

from tests.tandem.stacks import STACKS, names

ENVIRONMENTS = sorted(file.stem for file in (STACKS / "environments").glob("*.yaml"))


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_recorded_graphs_are_current(environment: str) -> None:
    recorded = diff.read(environments.load(environment))
    declared = diff.declared(environment)
    assert recorded.keys() == declared.keys()
    for stack, graph in declared.items():
        assert recorded[stack] == graph, f"{stack}: changed on purpose? tandem diff {environment} --record, and review"


def test_every_recorded_graph_is_of_a_stack() -> None:
    assert {file.stem for file in diff.RECORDED.glob("*.json")} == set(names())


def test_no_recorded_graph_holds_a_secret() -> None:
    keys = [key for answer in ANSWERS.values() for key in json.loads(answer["secretString"]).values()]
    text = "".join(file.read_text(encoding="utf-8") for file in diff.RECORDED.glob("*-serving.json"))
    assert keys and not any(key in text for key in keys)
    assert "[secret]" in text
