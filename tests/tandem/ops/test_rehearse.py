"""A rehearsal puts the local cloud below a real environment, and sees whether what stands is what its files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tandem.config.cluster import ClusterStack
from tandem.config.environment import LocalCloud
from tandem.errors import TandemError
from tandem.ops import environment as environments
from tandem.ops import project, protection, rehearse, shell
from tandem.ops.progress import Progress

DEV = environments.load("dev")


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No test may touch a rehearsal of this checkout."""
    monkeypatch.setenv("TANDEM_STATE", str(tmp_path))
    return tmp_path


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


def test_its_state_is_its_own(state: Path) -> None:
    rehearse.own_state("dev")
    assert shell.state_folder() == state / "rehearse-dev"


def test_the_engine_writes_into_copies_of_the_stack_files_that_keep_its_keys_and_nobody_elses(state: Path) -> None:
    copy = rehearse.on_this_machine(DEV).project / "stacks" / "Pulumi.dev-network.yaml"
    real = environments.ROOT / "stacks" / copy.name
    before = real.read_bytes()
    assert yaml.safe_load(copy.read_text()) == yaml.safe_load(before)
    with copy.open("a") as file:
        file.write("encryptionsalt: v1:of-the-rehearsal\n")
    again = rehearse.on_this_machine(DEV).project / "stacks" / copy.name
    assert yaml.safe_load(again.read_text()) == yaml.safe_load(before) | {"encryptionsalt": "v1:of-the-rehearsal"}
    assert real.read_bytes() == before


def test_a_real_stacks_secrets_provider_is_not_asked_in_a_rehearsal(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "stacks").mkdir(parents=True)
    (root / "Pulumi.yaml").write_text("name: tandem\n")
    for stack in DEV.stacks:
        text = (environments.ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text()
        (root / "stacks" / f"Pulumi.{stack}.yaml").write_text(f"secretsprovider: awskms://alias/prod\n{text}")
    apart = project.apart(DEV, tmp_path / "copy", root)
    for stack in DEV.stacks:
        assert "secretsprovider" not in yaml.safe_load((apart.project / "stacks" / f"Pulumi.{stack}.yaml").read_text())


def test_protection_is_lifted_from_no_real_environment() -> None:
    with pytest.raises(TandemError, match="is real"):
        protection.lift(DEV, Progress(quiet=True))


def test_nodes_hold_when_all_are_there_and_ready() -> None:
    holds, _ = rehearse.nodes(as_written(cluster_stack()), cluster_stack())
    assert holds


def test_a_node_that_is_late_missing_or_too_many_is_found() -> None:
    found = as_written(cluster_stack())
    assert not rehearse.nodes([{**found[0], "ready": False}, *found[1:]], cluster_stack())[0]
    assert not rehearse.nodes(found[1:], cluster_stack())[0]
    assert not rehearse.nodes([*found, found[0]], cluster_stack())[0]
