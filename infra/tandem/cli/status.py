"""`tandem status ENV`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import status


@click.command("status")
@options.environment
@options.as_json
def command(environment: str, as_json: bool) -> None:
    """Show what runs, what is ready, and what happened."""
    report = status.observe(environments.load(environment))
    if as_json:
        options.print_json(report)
    else:
        click.echo(status.as_text(report))
    if not report["serving"]:
        raise click.exceptions.Exit(1)
