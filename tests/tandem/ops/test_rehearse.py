"""A rehearsal puts the local cloud below a real environment, and sees whether what stands is what its files say."""

from __future__ import annotations

from typing import Any

import pytest
from tandem.config.cluster import ClusterStack
from tandem.config.environment import LocalCloud
from tandem.errors import TandemError
from tandem.ops import environment as environments
from tandem.ops import rehearse

DEV = environments.load("dev")


def cluster_stack() -> ClusterStack:
    return next(stack for stack in DEV.stacks.values() if isinstance(stack, ClusterStack))


def as_written(stack: ClusterStack) -> list[dict[str, Any]]:
    return [
        {"class": group.node_class.value, "instance_type": group.instance_type, "ready": True}
        for group in stack.node_groups.values()
        for _ in range(group.nodes)
    ]


def test_a_rehearsal_keeps_the_stack_files_and_changes_only_what_runs_below() -> None:
    rehearsed = rehearse.on_this_machine(DEV)
    assert rehearsed.stacks == DEV.stacks
    assert isinstance(rehearsed.settings.cloud, LocalCloud)
    assert rehearsed.settings.cloud.images_as == {"sglang": "engine-sim"}


def test_a_rehearsal_acts_as_a_role_that_administers_every_cluster() -> None:
    cloud = rehearse.on_this_machine(DEV).settings.cloud
    assert isinstance(cloud, LocalCloud)
    assert any(arn.endswith(f":role/{cloud.acts_as}") for arn in cluster_stack().administrators)


def test_an_environment_of_this_machine_needs_no_rehearsal() -> None:
    with pytest.raises(TandemError, match="tandem up local"):
        rehearse.on_this_machine(environments.load("local"))


def test_its_state_is_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("TANDEM_STATE", str(tmp_path))
    rehearse.own_state("dev")
    assert rehearse.shell.state_folder() == tmp_path / "rehearse-dev"


def test_nodes_hold_when_all_are_there_and_ready() -> None:
    holds, _ = rehearse.nodes(as_written(cluster_stack()), cluster_stack())
    assert holds


def test_a_node_that_is_late_missing_or_too_many_is_found() -> None:
    found = as_written(cluster_stack())
    assert not rehearse.nodes([{**found[0], "ready": False}, *found[1:]], cluster_stack())[0]
    assert not rehearse.nodes(found[1:], cluster_stack())[0]
    assert not rehearse.nodes([*found, found[0]], cluster_stack())[0]
