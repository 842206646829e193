"""`tandem weights ...`."""

from __future__ import annotations

from pathlib import Path

import click

from tandem.cli import options
from tandem.ops import pair_check
from tandem.plan.pairing.verdict import Verdict

FOLDER = click.Path(path_type=Path)


@click.group("weights")
def command() -> None:
    """Checkpoints and the pairs that they make."""


@command.command("check")
@click.option("--prefill", type=FOLDER, required=True, help="Folder of prefill's checkpoint.")
@click.option("--decode", type=FOLDER, required=True, help="Folder of decode's checkpoint.")
@click.option(
    "--engine", type=FOLDER, help='JSON: {"prefill": {"instance_type": ..., "args": {...}}, "decode": {...}}.'
)
@options.as_json
def check(prefill: Path, decode: Path, engine: Path | None, as_json: bool) -> int:
    """Say whether two checkpoints can share KV, from their metadata alone, and why not.

    Exit code 0 only for a compatible pair, 1 for any other verdict, 2 for files that cannot be read.
    """
    answer = pair_check.run(prefill, decode, engine)
    if as_json:
        options.print_json(answer.as_dict())
    else:
        click.echo(answer.verdict.value)
        for reason in answer.reasons:
            click.echo(f"  {reason.verdict.value} ({reason.code}) {reason.where}: {reason.message}. {reason.fix}.")
    return 0 if answer.verdict is Verdict.COMPATIBLE else 1
