"""`tandem doctor`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import doctor


@click.command("doctor")
@options.as_json
def command(as_json: bool) -> None:
    """Say what is missing on this machine, with the fix."""
    checks = doctor.examine()
    if as_json:
        options.print_json([check.as_dict() for check in checks])
    else:
        for check in checks:
            mark = "ok     " if check.ok else "MISSING"
            click.echo(f"{mark} {check.name}: {check.found}" + ("" if check.ok else f". {check.fix}"))
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(3)
