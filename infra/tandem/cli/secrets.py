"""`tandem secrets put ENV`."""

from __future__ import annotations

import click

from tandem.cli import options
from tandem.ops import api_keys, prove, shell
from tandem.ops import environment as environments


@click.group("secrets")
def command() -> None:
    """Put or show the API keys of an environment."""


@command.command("put")
@options.environment
@click.option("--api-key", prompt="API key for clients", hide_input=True, help="Asked for when not given.")
@click.option("--admin-api-key", prompt="API key for administration", hide_input=True, help="Asked for when not given.")
def put(environment: str, api_key: str, admin_api_key: str) -> None:
    """Store both keys in the secret that the registry stack owns. `tandem up` brings them to the pods."""
    loaded = environments.load(environment)
    api_keys.put(prove.secret_name(loaded), api_keys.ApiKeys(api_key, admin_api_key), shell.variables(loaded))
    click.echo(f"stored. Run: tandem up {environment}")


@command.command("show-api-key")
@options.environment
def show(environment: str) -> None:
    """Print the clients' API key, for scripts: curl -H "Authorization: Bearer $(tandem secrets show-api-key)"."""
    loaded = environments.load(environment)
    click.echo(api_keys.read(prove.secret_name(loaded), shell.variables(loaded)).api_key)
