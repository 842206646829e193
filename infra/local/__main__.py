"""`tandem-local`: the whole interface of the local cloud."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from tandem.errors import TandemError

from local import cloud
from local.binaries import complete_path
from local.logs import show
from local.paths import host_paths
from local.settings import load_settings
from local.status import Status, read_status


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Runs a whole AWS account and Kubernetes cluster, simulated, on this machine.

    State lies in $TANDEM_STATE/local, or in .tandem/local of the checkout.
    """


@cli.command()
@click.option(
    "--settings",
    type=click.Path(path_type=Path),
    help="JSON: the `cloud` part of an environment file. Without it, what the last `up` was given.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the status as JSON when ready.")
def up(settings: Path | None, as_json: bool) -> None:
    """Start the local cloud, or heal it, and wait until it answers."""
    paths = host_paths()
    last = paths.settings if paths.settings.exists() else None
    # Progress is for a person: stderr holds nothing but what went wrong, unless stdout is a document.
    status = cloud.up(paths, load_settings(settings or last), lambda text: click.echo(text, err=as_json))
    click.echo(json.dumps(status.as_json(), indent=1) if as_json else _describe_doors(status))


@cli.command()
@click.option("--purge", is_flag=True, help="Delete its state too: everything in the AWS account and the cluster.")
def down(purge: bool) -> None:
    """Stop the local cloud; nothing of it keeps running. Its state stays for the next `up`."""
    cloud.down(host_paths(), purge, click.echo)


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")
@click.option("--events", "events_shown", default=10, show_default=True, help="Latest events to show.")
def status(as_json: bool, events_shown: int) -> None:
    """Show processes, nodes and what happened."""
    found = read_status(host_paths())
    click.echo(json.dumps(found.as_json(), indent=1) if as_json else _describe(found, events_shown))


@cli.command()
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Go on with what comes.")
@click.option("-n", "--lines", default=200, show_default=True, help="Lines from the end.")
def logs(name: str, follow: bool, lines: int) -> None:
    """Print the log of process NAME (see `status`)."""
    show(host_paths(), name, lines, follow)


def _describe_doors(status: Status) -> str:
    doors = ", ".join(f"{name} 127.0.0.1:{port}" for name, port in status.doors.items())
    return f"The local cloud is up: {doors}"


def _describe(status: Status, events_shown: int) -> str:
    lines = [_describe_doors(status) if status.running else "The local cloud is not running."]
    if status.processes:
        lines.append("")
        lines.append(f"{'PROCESS':44} {'STATE':10} {'PID':>8} {'RESTARTS':>8}  LAST EXIT")
    for process in status.processes:
        pid = process["pid"] or ""
        lines.append(
            f"{process['name']:44} {process['state']:10} {pid:>8} {process['restarts']:>8}  {process['last_exit'] or ''}"
        )
    if status.nodes:
        lines.append("")
        lines.append(f"{'NODE':44} {'STATE':10} {'TYPE':14} GROUP")
    for node in status.nodes:
        lines.append(f"{node['name']:44} {node['state']:10} {node['instance_type']:14} {node['node_group']}")
    if status.recorded_only:
        lines.append("")
        lines.append(f"{len(status.recorded_only)} AWS resources are recorded only (simulated by name; see --json).")
    shown = status.events[-events_shown:] if events_shown else []
    if shown:
        lines.append("")
        lines.extend(f"{event['at']}  {event['text']}" for event in shown)
    return "\n".join(lines)


def main() -> None:
    """Run the command; an error for people is one line on stderr and its own exit code."""
    complete_path()
    try:
        cli.main(prog_name="tandem-local", standalone_mode=False)
    except TandemError as error:
        click.echo(str(error), err=True)
        sys.exit(error.exit_code)
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
