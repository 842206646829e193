"""`tandem facts refresh`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.facts.tables import document


@click.group("facts")
def command() -> None:
    """The dated tables that plans are made from."""


@command.command("refresh")
@click.option("--region", default="us-east-1", show_default=True, help="Whose prices to read.")
@click.option(
    "--write", "put", is_flag=True, help="Put the new table in its place; without it, only what would change is shown."
)
@options.as_json
def refresh(region: str, put: bool, as_json: bool) -> None:
    """Read on-demand prices from the AWS Price List API, and show what changed."""
    from tandem.ops import prices

    table = prices.refresh(region)
    before = {row["type"]: row["usd_per_hour"] for row in document("instance_prices")["prices"]}
    changed = [row for row in table["prices"] if row["usd_per_hour"] != before.get(row["type"])]
    if put:
        prices.write(table)
    if as_json:
        options.print_json({"region": region, "date": table["date"], "changed": changed, "written": put})
        return
    for row in changed:
        click.echo(f"{row['type']:<24} {before.get(row['type'])} -> {row['usd_per_hour']}")
    click.echo(f"{len(changed)} prices changed; {'written' if put else 'nothing written: add --write'}")
