"""`tandem plan ENV`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.plan.cost import site_cost


@click.command("environment")
@options.environment
@options.as_json
def command(environment: str, as_json: bool) -> None:
    """Show an environment's stacks in the order of `up`, their nodes, and what they cost by part."""
    loaded = environments.load(environment)
    cost = site_cost(loaded.stacks)
    if as_json:
        reads = {name: sorted(loaded.reads(name)) for name in loaded.stacks}
        options.print_json({"environment": environment, "stacks": reads, "cost": cost.as_dict()})
        return
    for name in loaded.stacks:
        click.echo(f"{name}")
        for part in cost.parts:
            if part.stack == name:
                click.echo(f"  {part.count:>3} x {part.name:<40} ${part.usd_per_hour:>9.2f} per hour")
    click.echo(cost.as_line())
