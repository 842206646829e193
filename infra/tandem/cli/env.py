"""`tandem env ENV`."""

from __future__ import annotations

import shlex

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import shell


@click.command("env")
@options.environment
@options.as_json
def command(environment: str, as_json: bool) -> None:
    """Print the variables under which plain `pulumi up -s STACK` works: eval "$(tandem env ENV)"."""
    values = shell.variables(environments.load(environment))
    if as_json:
        options.print_json(values)
        return
    for name, value in values.items():
        click.echo(f"export {name}={shlex.quote(value)}")
