"""Destroys an environment: its stacks in the opposite order, then the local cloud below them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tandem.config.environment import LocalCloud
from tandem.ops import exclusive, local_cloud, orphans, schedule, shell
from tandem.ops.engine import Engine
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.progress import Progress


def run(environment: LoadedEnvironment, progress: Progress) -> Mapping[str, Any]:
    """Stacks and the number of resources destroyed in each. Nothing of a local environment is left behind.

    Raises `Incomplete` with what could not be destroyed; the same command goes on from there.
    """
    with exclusive.changing(environment.name, shell.state_folder()):
        return _run(environment, progress)


def _run(environment: LoadedEnvironment, progress: Progress) -> Mapping[str, Any]:
    cloud = environment.settings.cloud
    engine = Engine(shell.variables(environment), progress, environment.project)
    present = set(environment.stacks) & set(engine.recorded())
    if isinstance(cloud, LocalCloud) and present:
        # Resources are destroyed through the cloud that holds them: a half-dead one is healed first.
        local_cloud.heal()
    readers: dict[str, set[str]] = {
        stack: {reader for reader in present if stack in environment.reads(reader)} for stack in present
    }

    def destroy(stack: str) -> int:
        progress.say(stack, "destroying")
        return sum(count for operation, count in engine.destroy(stack).items() if operation == "delete")

    destroyed = schedule.run(readers, destroy)
    orphans.end(shell.state_folder())
    if isinstance(cloud, LocalCloud):
        progress.say("local cloud", "ending")
        local_cloud.down(purge=True)
    return {"environment": environment.name, "destroyed": destroyed}
