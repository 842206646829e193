"""What `up` would change, stack by stack."""

from __future__ import annotations

from collections.abc import Mapping

from tandem.config.environment import LocalCloud
from tandem.errors import TandemError
from tandem.ops import environment as environments
from tandem.ops import local_cloud, project, schedule, shell
from tandem.ops.engine import Changes, Engine
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.progress import Progress

LOCAL = "local"
"""The environment whose cloud serves `--against-local`."""


def run(
    environment: LoadedEnvironment, progress: Progress, *, expect_no_changes: bool = False, against_local: bool = False
) -> Mapping[str, Changes]:
    """Changes by stack. Every stack gets an (empty) record first: one can refer to another before either exists.

    Raises `EngineFailed`, also where a change was found and none expected.
    """
    variables = (
        shell.against_local(environment, environments.load(LOCAL)) if against_local else shell.variables(environment)
    )
    if (against_local or isinstance(environment.settings.cloud, LocalCloud)) and not local_cloud.status()["running"]:
        raise TandemError("local cloud: is not running - a preview asks its AWS. Run: tandem up local")
    if against_local:
        environment = project.apart(environment, shell.state_folder() / f"project-{environment.name}")
    engine = Engine(variables, progress, environment.project)
    for stack in environment.stacks:
        engine.ensure(stack)
    nothing: Mapping[str, set[str]] = {stack: set() for stack in environment.stacks}
    return schedule.run(nothing, lambda stack: engine.preview(stack, expect_no_changes=expect_no_changes))
