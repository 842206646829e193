"""Arguments and options that several commands share, and how results are printed."""

from __future__ import annotations

import json
from typing import Any

import click

environment = click.argument("environment", metavar="ENV", default="local", envvar="TANDEM_ENVIRONMENT")
as_json = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document on stdout; progress stays on stderr."
)


def print_json(value: Any) -> None:
    """The one form of JSON that commands print: indented, keys in order of meaning."""
    click.echo(json.dumps(value, indent=2, default=str))
