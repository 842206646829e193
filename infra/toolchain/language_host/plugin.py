"""Runs policy packs and plugins written in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolchain.language_host.environments import PythonEnvironment


def command(request: Any, environment: PythonEnvironment) -> list[str]:
    """The command line for a RunPluginRequest."""
    folder = Path(request.info.program_directory)
    target = str(folder if request.info.entry_point in ("", ".") else folder / request.info.entry_point)
    python = [environment.python(), "-u"]
    if request.kind == "analyzer":
        return [*python, "-m", "pulumi.policy", *request.args, target]
    return [*python, target, *request.args]


def variables(request: Any, environment: PythonEnvironment) -> dict[str, str]:
    """The variables the engine gave, with the virtual environment activated."""
    given = dict(entry.partition("=")[::2] for entry in request.env)
    return environment.environment(given or None)
