"""`tandem up ENV`."""

from __future__ import annotations

import sys

import click

from tandem.cli import options
from tandem.ops import bring_up
from tandem.ops import environment as environments
from tandem.ops.progress import Progress


@click.command("up")
@options.environment
@options.as_json
@click.option("--no-chat", is_flag=True, help="Do not prove it with a chat completion at the end.")
def command(environment: str, as_json: bool, no_chat: bool) -> None:
    """Bring an environment up, stack by stack, and prove it with a streamed chat completion.

    Run it again after anything went wrong, a kill included: it goes on from there.
    """
    progress = Progress()
    report = bring_up.run(
        environments.load(environment),
        progress,
        chat=not no_chat,
        on_text=(lambda text: print(text, end="", file=sys.stderr, flush=True)),
    )
    if as_json:
        options.print_json(report.as_dict())
    else:
        click.echo(report.as_text())
