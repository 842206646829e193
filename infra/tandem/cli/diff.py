"""`tandem diff ENV`."""

from __future__ import annotations

from pathlib import Path

import click

from tandem.cli import options
from tandem.ops import diff
from tandem.ops import environment as environments


@click.command("diff")
@options.environment
@options.as_json
@click.option("--record", is_flag=True, help="Record what the stack files declare, instead of comparing.")
@click.option(
    "--recorded",
    type=click.Path(file_okay=False, path_type=Path),
    default=diff.RECORDED,
    help="Folder of the recorded graphs.  [default: those of the checkout]",
)
def command(environment: str, as_json: bool, record: bool, recorded: Path) -> None:
    """Show what the stack files would create, update, REPLACE and delete against a recorded graph; with downtime and money.

    Neither the Pulumi engine nor a cloud is asked: the programs run against a stand-in.
    """
    loaded = environments.load(environment)
    if record:
        written = [str(file) for file in diff.record(loaded, recorded)]
        if as_json:
            options.print_json({"recorded": written})
        else:
            click.echo("\n".join(written))
        return
    result = diff.run(loaded, recorded)
    if as_json:
        options.print_json(result.as_dict())
    else:
        click.echo(result.as_text())
