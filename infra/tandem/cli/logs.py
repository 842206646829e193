"""`tandem logs ENV WHAT`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import logs


@click.command("logs")
@options.environment
@click.argument("what", required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on as lines come.")
@click.option(
    "--tail", type=click.IntRange(min=1), default=100, show_default=True, help="Lines of each pod, from its end."
)
@options.as_json
def command(environment: str, what: str | None, follow: bool, tail: int, as_json: bool) -> None:
    """Show the logs of a role (gateway, prefill, decode), or of a process of the local cloud.

    Without WHAT: the names that there are.
    """
    loaded = environments.load(environment)
    if what is None:
        names = logs.names(loaded)
        if as_json:
            options.print_json(names)
        else:
            for kind, found in names.items():
                click.echo(f"{kind}: {' '.join(found)}")
        return
    raise click.exceptions.Exit(logs.show(loaded, what, follow=follow, tail=tail))
