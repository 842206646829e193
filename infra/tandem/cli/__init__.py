"""The `tandem` command: wiring only. Each command group is a file here; what they do lives in `tandem.ops`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from tandem.errors import TandemError

COMMANDS = {
    "up": "Bring an environment up, and prove it with a streamed chat completion.",
    "down": "Destroy an environment's stacks and, for a local one, the cloud below them.",
    "rehearse": "Run a real environment's stack files on this machine, and look whether all is as they say.",
    "preflight": "Ask the AWS account, reading only, whether it is ready for an environment.",
    "preview": "Show what `up` would change, without changing it.",
    "plan": "Plan: what to deploy, how fast it is, what it costs (predict, calibrate, explore, or an environment).",
    "facts": "Keep the dated tables: `facts refresh` reads prices from AWS.",
    "simulate": "Run requests through a planned deployment, event by event.",
    "diff": "Show what the stack files would change and REPLACE against a recorded graph, with downtime and money.",
    "status": "Show what runs, what is ready, and what happened.",
    "logs": "Show the logs of a role, or of a process of the local cloud.",
    "env": "Print the variables under which plain `pulumi up -s STACK` works.",
    "doctor": "Say what is missing on this machine, with the fix.",
    "chat": "Stream one chat completion through the edge, with its times.",
    "weights": "Check that two checkpoints make a pair.",
    "secrets": "Put the API keys of an environment.",
    "cluster-token": "Print the credential by which EKS knows the caller (for kubeconfigs).",
}
"""Name -> help. A command's module is imported only when it runs: `tandem env` must be quick."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"tandem.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tandem")
def tandem() -> None:
    """SGLang with prefill and decode apart, on Pulumi."""


def main(argv: list[str] | None = None) -> None:
    """Entry point. A `TandemError` is one line and its exit code; anything else is a bug and keeps its traceback."""
    try:
        code: Any = tandem.main(args=argv, prog_name="tandem", standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted; the same command goes on from here", file=sys.stderr)
        code = 130
    except TandemError as error:
        print(error, file=sys.stderr)
        code = error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        code = 141
    raise SystemExit(code if isinstance(code, int) else 0)
