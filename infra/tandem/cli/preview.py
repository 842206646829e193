"""`tandem preview ENV`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import preview
from tandem.ops.progress import Progress


@click.command("preview")
@options.environment
@options.as_json
@click.option("--expect-no-changes", is_flag=True, help="Fail where anything would change.")
@click.option(
    "--against-local",
    is_flag=True,
    help="Preview a real environment against the running local cloud's simulated AWS, with a state of its own.",
)
def command(environment: str, as_json: bool, expect_no_changes: bool, against_local: bool) -> None:
    """Show what `up` would change, without changing it."""
    result = preview.run(
        environments.load(environment), Progress(), expect_no_changes=expect_no_changes, against_local=against_local
    )
    if as_json:
        options.print_json(result)
        return
    for stack, changes in result.items():
        shown = ", ".join(f"{count} {operation}" for operation, count in sorted(changes.items())) or "nothing"
        click.echo(f"{stack}: {shown}")
