"""The programs as in the preview before anything stands."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from tandem.graph import record

from tests.tandem.stacks import load, names

AWS_STACKS = ("registry", "network", "cluster", "edge")


@pytest.mark.parametrize("environment", ["dev", "local"])
def test_a_preview_of_nothing_declares_the_same_resources(environment: str) -> None:
    order = ("registry", "network", "cluster", "edge", "serving")
    stacks = {f"{environment}-{kind}": load(f"{environment}-{kind}") for kind in order}
    assert sorted(stacks) == names(environment), "the stacks in dependency order are all there are"
    known, unknown = record.environment(stacks), record.environment(stacks, unknown=True)
    for name, stack in stacks.items():
        assert {r.urn for r in unknown[name].resources} == {r.urn for r in known[name].resources}
        if stack.kind in AWS_STACKS:
            marked = [r for r in unknown[name].resources if record.UNKNOWN in json.dumps(asdict(r)["inputs"])]
            assert marked, f"{name}: something of it only AWS can give"
        assert not any(record.UNKNOWN in json.dumps(asdict(r)["inputs"]) for r in known[name].resources)
