"""Logs by what a person calls things: a role of the site, or a process of the local cloud."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from tandem.config.environment import LocalCloud
from tandem.errors import MissingTool, TandemError
from tandem.ops import local_cloud, shell
from tandem.ops.cluster import NAMESPACE
from tandem.ops.environment import LoadedEnvironment

ROLES = ("gateway", "prefill", "decode")


def names(environment: LoadedEnvironment) -> Mapping[str, Sequence[str]]:
    """What `show` takes."""
    processes: Sequence[str] = ()
    if isinstance(environment.settings.cloud, LocalCloud):
        processes = [process["name"] for process in local_cloud.status().get("processes", ())]
    return {"roles": ROLES, "processes": processes}


def show(environment: LoadedEnvironment, what: str, *, follow: bool, tail: int) -> int:
    """Prints them to stdout; returns the exit code of the tool that did."""
    if what in ROLES:
        return _role(environment, what, follow=follow, tail=tail)
    known = names(environment)["processes"]
    if what not in known:
        raise TandemError(f"logs: {what!r} - is no role or process. There are: {' '.join([*ROLES, *known])}")
    return local_cloud.logs(what, *(["--follow"] if follow else []))


def _role(environment: LoadedEnvironment, role: str, *, follow: bool, tail: int) -> int:
    command = ["kubectl", "logs", "-n", NAMESPACE, "-l", f"tandem.dev/role={role}", "--prefix", f"--tail={tail}"]
    command += ["--follow", "--max-log-requests=100"] if follow else []
    try:
        return subprocess.run(command, env=shell.process_environment(environment), check=False).returncode
    except FileNotFoundError as error:
        raise MissingTool("kubectl: not found - it reads the pods' logs. Run: make toolchain, or install it") from error
