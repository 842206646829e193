"""The processes that the host runs for the engine, so that all of them can be stopped at once."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

GRACE_S = 2.0
"""Time between SIGTERM and SIGKILL. The engine kills the host itself after 5 s, and must not find children left."""


Child = subprocess.Popen[bytes]


class Cancelled(Exception):
    """The engine has asked to stop; nothing new is started."""


class Children:
    """Running child processes, each the leader of a process group of its own.

    Groups of their own, because the engine interrupts the host's whole group: a Python program that gets SIGINT prints
    a traceback, whereas the SIGTERM it gets from here ends it silently.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Child] = set()
        self._stopped = threading.Event()

    @property
    def stopped(self) -> bool:
        """Whether the engine has asked to stop."""
        return self._stopped.is_set()

    @contextlib.contextmanager
    def start(
        self, argv: Sequence[str], *, cwd: str | Path | None, env: Mapping[str, str], capture: bool
    ) -> Iterator[Child]:
        """Run `argv` until the block ends; with `capture` its stdout and stderr are pipes, else the host's own."""
        pipe = subprocess.PIPE if capture else None
        with self._lock:
            if self.stopped:
                raise Cancelled
            child = subprocess.Popen(
                list(argv), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, process_group=0
            )
            self._running.add(child)
        try:
            yield child
        finally:
            stop(child)
            with self._lock:
                self._running.discard(child)
            for stream in (child.stdout, child.stderr):
                if stream is not None:
                    stream.close()

    def stop_all(self) -> None:
        """Stop every child and start none again. Returns at once; `start` blocks end when their child has."""
        with self._lock:
            self._stopped.set()
            running = list(self._running)
        for child in running:
            self.end(child)

    def end(self, child: Child) -> None:
        """Stop one child. Returns at once."""
        if child.poll() is None:
            threading.Thread(target=stop, args=(child,), name=f"stop-{child.pid}").start()


def stop(child: Child) -> None:
    """End a child and whatever it started: SIGTERM, then after `GRACE_S` SIGKILL."""
    if child.poll() is None:
        _signal_group(child, signal.SIGTERM)
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            _signal_group(child, signal.SIGKILL)
            child.wait()


def _signal_group(child: Child, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)
