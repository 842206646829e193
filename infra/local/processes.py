"""The table of processes that make up the local cloud, and when each may start.

A row names a program, how to tell that it serves, and what must serve before it is started. Rows are data: the supervisor is the
only one that starts anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from tandem.errors import TandemError

ReadyKind = Literal["started", "finished", "tcp", "http", "file"]


@dataclass(frozen=True)
class Ready:
    """How to tell that a process does its work."""

    kind: ReadyKind
    """`started`: at once. `finished`: it ended with 0, and is not restarted. `tcp`: a port accepts. `http`: a URL answers below 400.
    `file`: a path exists, newer than the process where it is a socket."""
    target: str = ""
    """`host:port`, URL or path."""
    ca: str = ""
    """For https: the file with the certificate authority."""


STARTED = Ready("started")
FINISHED = Ready("finished")


@dataclass(frozen=True)
class Process:
    """One row: a program that runs as long as the local cloud does."""

    name: str
    """Unique; also the name of its log."""
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    """Added to the supervisor's environment."""
    ready: Ready = STARTED
    after: tuple[str, ...] = ()
    """Rows that must be ready before the first start. Later restarts do not wait: every part finds its peers again by itself."""
    descriptors: tuple[int, ...] = ()
    """Open files of the supervisor that the process inherits under the same numbers."""
    stop_seconds: float = 4.0
    """From SIGTERM to SIGKILL."""
    network: str = ""
    """File that holds the network namespace it runs in and is asked in; empty: the supervisor's own."""

    @property
    def command(self) -> tuple[str, ...]:
        """What is executed."""
        return ("nsenter", f"--net={self.network}", "--", *self.argv) if self.network else self.argv

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Process:
        """The inverse of `as_json`. Raises TypeError or KeyError on another shape."""
        return Process(
            name=str(value["name"]),
            argv=tuple(str(word) for word in value["argv"]),
            env={str(key): str(text) for key, text in value.get("env", {}).items()},
            ready=Ready(**value["ready"]) if "ready" in value else STARTED,
            after=tuple(value.get("after", ())),
            stop_seconds=float(value.get("stop_seconds", 4.0)),
            network=str(value.get("network", "")),
        )


class TableError(TandemError):
    """A table of processes that cannot be started in any order."""


def start_waves(rows: Iterable[Process]) -> list[list[str]]:
    """The rows' names in waves: each wave needs only earlier ones.

    Raises TableError for a name that is used twice, a dependency that is not there, or a circle.
    """
    table: dict[str, Process] = {}
    for row in rows:
        if row.name in table:
            raise TableError(f"process table: {row.name} - a name stands for one process. Rename one of the two.")
        table[row.name] = row
    for row in table.values():
        for name in row.after:
            if name not in table:
                raise TableError(
                    f"process table: {row.name}.after names {name} - there is no such row. Add it or drop the name."
                )
    waves: list[list[str]] = []
    done: set[str] = set()
    while len(done) < len(table):
        wave = [row.name for row in table.values() if row.name not in done and done.issuperset(row.after)]
        if not wave:
            circle = ", ".join(sorted(set(table) - done))
            raise TableError(
                f"process table: {circle} wait for one another - a start order must exist. Break the circle."
            )
        waves.append(wave)
        done.update(wave)
    return waves


def back_off(failures: int, first_seconds: float, max_seconds: float) -> float:
    """Seconds to wait before restart number `failures` (from 1) in a row: the first at once, then doubling up to the cap."""
    if failures <= 1:
        return 0.0
    return float(min(max_seconds, first_seconds * 2.0 ** (min(failures, 32) - 2)))
