"""`tandem chat ENV PROMPT`."""

from __future__ import annotations

import sys

import click

from tandem.cli import options
from tandem.ops import environment as environments
from tandem.ops import prove


@click.command("chat")
@options.environment
@click.argument("prompt", default=prove.PROMPT)
@click.option("--max-tokens", type=click.IntRange(min=1), default=32, show_default=True)
@options.as_json
def command(environment: str, prompt: str, max_tokens: int, as_json: bool) -> None:
    """Stream one chat completion through the edge, with its times and the KV bytes that moved."""
    proof = prove.run(
        environments.load(environment),
        prompt,
        max_tokens=max_tokens,
        on_text=(lambda text: print(text, end="", file=sys.stderr, flush=True)),
    )
    print(file=sys.stderr)
    if as_json:
        options.print_json(proof.as_dict())
    else:
        click.echo(proof.as_text())
