"""`tandem preflight ENV`."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops.preflight import run


@click.command("preflight")
@options.environment
@options.as_json
def command(environment: str, as_json: bool) -> int:
    """Ask the AWS account, with the caller's credentials and reading only, whether it is ready for the environment.

    Ends with 0 where all is ok, 1 where something fails, 6 where nothing fails but something could not be checked.
    """
    result = run.run(environments.load(environment), datetime.now(UTC))
    if as_json:
        options.print_json(result.as_dict())
    else:
        click.echo(result.as_text())
    return result.exit_code
