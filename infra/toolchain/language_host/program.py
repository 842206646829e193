"""Runs one Pulumi program by the SDK's executor script."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from toolchain.language_host.children import Child, Children
from toolchain.language_host.environments import PythonEnvironment

ALREADY_REPORTED = 32
"""Exit code by which the executor says that it has shown the error to the user itself."""


def executor() -> Path:
    """The SDK's script. The build copies this package to `lib` of the toolchain, and the script to its `bin`."""
    return Path(__file__).resolve().parents[3] / "bin" / "pulumi-language-python-exec"


def arguments(request: Any, engine: str) -> list[str]:
    """The executor's command line for a RunRequest."""
    info = request.info
    flags = {
        "monitor": request.monitor_address,
        "engine": engine,
        "project": request.project,
        "root_directory": info.root_directory,
        "stack": request.stack,
        "pwd": request.pwd,
        "dry_run": "true" if request.dryRun else "false",
        "parallel": str(request.parallel),
        "organization": request.organization,
    }
    words = [word for name, value in flags.items() if value for word in (f"--{name}", value)]
    return [*words, _entry_point(info), *request.args]


def _entry_point(info: Any) -> str:
    """The program's path. A folder is what its `__main__.py` is."""
    return str(Path(info.program_directory) / info.entry_point) if info.entry_point != "." else info.program_directory


def configuration(request: Any) -> dict[str, str]:
    """Variables that hand the stack's configuration over. Not on the command line, which other users can see."""
    variables = {"PULUMI_CONFIG": json.dumps(dict(request.config))}
    if request.configSecretKeys:
        variables["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(request.configSecretKeys))
    return variables


def start(
    request: Any, engine: str, environment: PythonEnvironment, children: Children
) -> AbstractContextManager[Child]:
    """Start the program. Its output goes straight to the engine, by the host's own streams."""
    # -u: lines appear when they are printed, not when the program ends.
    command = [environment.python(), "-u", str(executor()), *arguments(request, engine)]
    variables = {**environment.environment(), **configuration(request)}
    return children.start(command, cwd=request.pwd or None, env=variables, capture=False)


def start_type_checker(
    checker: str, environment: PythonEnvironment, children: Children
) -> AbstractContextManager[Child]:
    """Start the type checker that the options name over the program."""
    program = environment.options.program
    command = [environment.python(), "-m", checker, str(program)]
    return children.start(command, cwd=program, env=environment.environment(), capture=False)
