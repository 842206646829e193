"""`tandem rehearse ENV`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import rehearse
from tandem.ops.progress import Progress


@click.command("rehearse")
@click.argument("environment", metavar="ENV")
@options.as_json
@click.option("--keep", is_flag=True, help="Leave it up at the end; `--down` takes it away.")
@click.option("--down", is_flag=True, help="Only take a kept or broken-off rehearsal away.")
def command(environment: str, as_json: bool, keep: bool, down: bool) -> int:
    """Run a real environment's stack files, all regions, on this machine, look whether all is as they say, and destroy it again.

    AWS, load balancers and GPUs are simulated. Nothing reaches an account.
    """
    rehearse.own_state(environment)
    rehearsed = rehearse.on_this_machine(environments.load(environment))
    if down:
        return _down(rehearsed, as_json)
    result = rehearse.run(rehearsed, Progress(), keep=keep)
    if as_json:
        options.print_json(result.as_dict())
    else:
        click.echo(result.as_text())
    return 0 if result.holds else 1


def _down(rehearsed: environments.LoadedEnvironment, as_json: bool) -> int:
    result = rehearse.end(rehearsed, Progress())
    if as_json:
        options.print_json(result)
    else:
        click.echo(f"the rehearsal of {rehearsed.name} is gone")
    return 0
