"""What a container's process needs to be started: the file the runtime writes and the shim reads."""

# pathlib would cost each container 1 MB and 5 ms.
# ruff: noqa: PTH123

from __future__ import annotations

import json
from typing import TypedDict


class Bind(TypedDict):
    """One path of the node that appears in the container."""

    source: str
    target: str
    readonly: bool


class Identity(TypedDict):
    """Who the process is. In a user namespace only root exists, and `apply` is false."""

    apply: bool
    uid: int
    gid: int
    groups: list[int]
    capabilities: list[int] | None
    """Numbers that remain; None keeps all (privileged)."""
    no_new_privileges: bool


class Launch(TypedDict):
    """One container's start."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    hostname: str
    network: str | None
    """File of the pod's network namespace; None for the node's own."""
    identity: Identity
    binds: list[Bind]
    """In the order in which they are made."""
    system_paths: list[str]
    """Folders of the node that every container sees, read-only: programs, libraries, Python."""
    shm: str
    readonly_root: bool
    sysctls: dict[str, str]
    """Of the namespaces that each container has for itself (IPC)."""
    oom_score_adj: int
    log: str
    """Empty: output is dropped."""
    stdin: bool
    stdin_once: bool
    tty: bool


LAUNCH_FILE = "launch.json"
PROCESS_FILE = "process.json"
EXIT_FILE = "exit.json"
SOCKET_FILE = "shim.sock"
LOCK_FILE = "shim.lock"

START_FAILED_CODE = 128
"""Exit code of a container whose program could not be started, as other runtimes report it."""


class ProcessRecord(TypedDict):
    """Written by the shim when the program is about to run."""

    pid: int
    start_time: int
    """Field 22 of /proc/PID/stat, ticks since boot: tells the process from a later one with its number."""
    shim_pid: int
    shim_start_time: int
    pid_namespace: int
    """inode of the process namespace: every process of the container has it."""
    started_at: int
    """Nanoseconds since 1970."""


class ExitRecord(TypedDict):
    """How a container ended."""

    exit_code: int
    finished_at: int
    """Nanoseconds since 1970."""
    reason: str
    message: str


def read_launch(path: str) -> Launch:
    """The launch file at `path`. Raises OSError or ValueError."""
    with open(path, encoding="utf-8") as file:
        launch: Launch = json.load(file)
    return launch


def start_time(pid: int) -> int:
    """Ticks since boot at which process `pid` started. Raises OSError if there is none."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name in parentheses may hold anything, a parenthesis included.
        return int(file.read().rpartition(b")")[2].split()[19])
