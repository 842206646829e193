"""`tandem down ENV`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import take_down
from tandem.ops.progress import Progress


@click.command("down")
@options.environment
@options.as_json
@click.option("--yes", is_flag=True, help="Do not ask. A local environment never asks.")
def command(environment: str, as_json: bool, yes: bool) -> None:
    """Destroy an environment's stacks and, for a local one, the cloud below them: nothing is left."""
    loaded = environments.load(environment)
    if not yes and loaded.settings.cloud.kind != "local":
        click.confirm(f"Destroy {', '.join(loaded.stacks)} in account {_account(loaded)}?", abort=True)
    result = take_down.run(loaded, Progress())
    if as_json:
        options.print_json(result)
    else:
        click.echo(f"{environment} is down: {sum(result['destroyed'].values())} resources destroyed")


def _account(loaded: environments.LoadedEnvironment) -> str:
    return ", ".join(sorted({stack.account_id for stack in loaded.stacks.values()}))
