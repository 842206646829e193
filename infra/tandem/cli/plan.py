"""`tandem plan ENV`, and `tandem plan predict | calibrate | explore`."""

from __future__ import annotations

import importlib

import click

PARTS = {
    "predict": "Predict TTFT, TPOT and throughput of the rows of a bench table.",
    "calibrate": "Fit the performance model to a bench log.",
    "explore": "Find what to deploy for a model, traffic and latency objectives, and what it costs.",
    "environment": "Show the plan of an environment: the one that `pulumi up` will use.",
}


class _Plan(click.Group):
    """A first argument that names no part is an environment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PARTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in PARTS:
            return None
        module = importlib.import_module(f"tandem.cli.plan_{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in PARTS and not args[0].startswith("-"):
            args = ["environment", *args]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(PARTS.items()))


@click.group("plan", cls=_Plan, subcommand_metavar="ENV | COMMAND [ARGS]...")
def command() -> None:
    """What to deploy, how fast it is, what it costs. `tandem plan ENV` shows an environment's plan."""
