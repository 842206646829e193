"""Runs the local cloud's own command. Nothing of it is imported: `tandem-local` is its whole interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tandem.errors import CloudUnavailable
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.shell import state_folder


def up(environment: LoadedEnvironment) -> None:
    """Starts it, or heals it, and returns when its doors answer. Raises `CloudUnavailable`."""
    cloud = environment.settings.cloud
    wanted = cloud.model_dump(mode="json", exclude={"acts_as"}) | {
        "regions": list(environment.regions),
        "account_id": next(stack.account_id for stack in environment.stacks.values()),
    }
    state = state_folder()
    state.mkdir(parents=True, exist_ok=True)
    settings = state / "local-settings.json"
    draft = settings.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(wanted, indent=1), encoding="utf-8")
    draft.replace(settings)
    _run("up", "--settings", str(settings))


def heal() -> None:
    """Starts it again as it was, whatever an environment's files say by now. Raises `CloudUnavailable`."""
    _run("up")


def down(*, purge: bool) -> None:
    """Ends it and everything in it; with `purge` its state on disk too. Raises `CloudUnavailable`."""
    _run("down", *(["--purge"] if purge else []))


def status() -> dict[str, Any]:
    """What `tandem-local status --json` prints; `{"running": False}` where there is none."""
    done = subprocess.run(_command("status", "--json"), capture_output=True, text=True, env=_environment(), check=False)
    try:
        value = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise CloudUnavailable(f"tandem-local status: {_last_line(done.stderr)}") from error
    return dict(value)


def logs(*arguments: str) -> int:
    """Shows the log of one of its processes; returns the exit code."""
    return subprocess.run(_command("logs", *arguments), env=_environment(), check=False).returncode


def _run(*arguments: str) -> None:
    done = subprocess.run(
        _command(*arguments), env=_environment(), stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        reason = done.stderr.strip() or "it ended without a word; see `tandem-local status`"
        raise CloudUnavailable(f"local cloud: {reason}")


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "local", *arguments]


def _environment() -> Mapping[str, str]:
    infra = str(Path(__file__).resolve().parents[2])
    return os.environ | {"TANDEM_STATE": str(state_folder()), "PYTHONPATH": infra}


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "it ended without a word; see `tandem-local status`"
