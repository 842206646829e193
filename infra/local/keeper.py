"""The part of the local cloud that lives on the host: keeps the namespace running, and itself.

Two twins run, both holding the doors' sockets. Whoever has the keeper lock acts; the other waits for that lock and so takes over
in the moment the first one dies, whatever killed it. The namespace outlives its keeper: the next one adopts it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from local import limits, namespace
from local.doors import DoorMap
from local.events import Events, describe_exit
from local.locks import Lock, holder
from local.logs import open_log
from local.paths import LocalPaths
from local.processes import back_off
from local.records import read_record, write_record


def start(paths: LocalPaths, doors: DoorMap) -> subprocess.Popen[bytes]:
    """Start a keeper in the background; it inherits the doors' sockets."""
    log = open_log(paths.logs, "keeper")
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "local.keeper", "--state", str(paths.root), "--doors", json.dumps(doors.as_json())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=doors.descriptors,
            start_new_session=True,
            cwd="/",
        )
    finally:
        os.close(log)


class Keeper:
    """The acting twin."""

    def __init__(self, paths: LocalPaths, doors: DoorMap, lock: Lock) -> None:
        self._paths = paths
        self._doors = doors
        self._lock = lock
        self._twin: subprocess.Popen[bytes] | None = None
        self._world: subprocess.Popen[bytes] | None = None
        former = read_record(paths.keeper_record)
        self._events = Events(former.get("events", ()))
        self._restarts = int(former.get("namespace_restarts", 0))
        self._failures = 0
        self._stop_read, self._stop_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def run(self, took_over: bool) -> None:
        """Keep the namespace and the twin running until SIGTERM or SIGINT."""
        signal.set_wakeup_fd(self._stop_write)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: None)
        if took_over:
            self._note("took-over", "the keeper died; its twin took over")
        while True:
            self._start_twin()
            if self._watch(self._enter_world()):
                break
        self._stop()

    def _enter_world(self) -> int:
        """A pidfd of the namespace's first process, or of the `unshare` that is about to make it."""
        first = holder(self._paths.namespace_lock)
        if first:
            with contextlib.suppress(ProcessLookupError):
                self._world = None
                return os.pidfd_open(first)
        log = open_log(self._paths.logs, "supervisor")
        doors = json.dumps(self._doors.as_json())
        argv = [sys.executable, "-m", "local.supervisor", "--state", str(self._paths.root), "--doors", doors]
        try:
            self._world = subprocess.Popen(
                namespace.command(argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self._doors.descriptors,
                start_new_session=True,
            )
        finally:
            os.close(log)
        self._note("started", "the namespace was started")
        return os.pidfd_open(self._world.pid)

    def _watch(self, world: int) -> bool:
        """Wait until the namespace ends, healing the twin meanwhile. True if the keeper was told to stop."""
        started = time.monotonic()
        try:
            while True:
                twin = os.pidfd_open(self._twin.pid) if self._twin is not None else -1
                try:
                    events = select.poll()
                    for descriptor in (world, twin, self._stop_read):
                        events.register(descriptor, select.POLLIN)
                    ready = {descriptor for descriptor, _ in events.poll()}
                finally:
                    os.close(twin)
                if self._stop_read in ready:
                    return True
                if twin in ready and self._twin is not None:
                    self._note("died", f"the keeper's twin died: {describe_exit(self._twin.wait())}")
                    self._start_twin()
                if world in ready:
                    return self._note_world_end(time.monotonic() - started)
        finally:
            os.close(world)

    def _note_world_end(self, lived_seconds: float) -> bool:
        code = self._world.wait() if self._world is not None else None
        how = f": {describe_exit(code)}" if code is not None else ""
        self._restarts += 1
        self._note("died", f"the namespace ended after {lived_seconds:.1f} s{how}; all of its processes ended with it")
        self._failures = 1 if lived_seconds >= limits.BACK_OFF_RESET else self._failures + 1
        pause = back_off(self._failures, limits.BACK_OFF_FIRST, limits.BACK_OFF_MAX)
        return bool(select.select([self._stop_read], [], [], pause)[0])

    def _start_twin(self) -> None:
        if self._twin is None or self._twin.poll() is not None:
            self._twin = start(self._paths, self._doors)
            self._write()

    def _stop(self) -> None:
        """End the twin first, so that it does not take over, then the namespace, gently and then not."""
        if self._twin is not None:
            self._twin.kill()
            self._twin.wait()
            self._twin = None
        end_namespace(self._paths)
        if self._world is not None:
            self._world.kill()
            self._world.wait()
        self._note("stopped", "the local cloud was stopped")
        self._lock.release()

    def _note(self, what: str, text: str) -> None:
        event = self._events.add("keeper", what, text)
        print(f"{event.at} {text}", file=sys.stderr, flush=True)
        self._write()

    def _write(self) -> None:
        record = {
            "pid": os.getpid(),
            "twin": self._twin.pid if self._twin is not None else None,
            "doors": {door.name: door.port for door in self._doors.doors},
            "namespace_restarts": self._restarts,
            "events": self._events.as_json(),
        }
        write_record(self._paths.keeper_record, record)


def end_namespace(paths: LocalPaths) -> None:
    """End the namespace of this state, if there is one: SIGTERM to its first process, SIGKILL when that takes too long."""
    for number, seconds in ((signal.SIGTERM, limits.STOP_SECONDS + 1), (signal.SIGKILL, limits.DOWN_SECONDS)):
        first = holder(paths.namespace_lock)
        if not first or send(first, number, seconds):
            return


def send(pid: int, number: signal.Signals, seconds: float) -> bool:
    """Signal a process and wait for its end. False if it still runs after `seconds`."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        signal.pidfd_send_signal(descriptor, number)
        return bool(select.select([descriptor], [], [], seconds)[0])
    except ProcessLookupError:
        return True
    finally:
        os.close(descriptor)


def main() -> int:
    """Wait for the keeper lock, then keep. Returns an exit code."""
    parser = argparse.ArgumentParser(prog="local.keeper", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="TANDEM_STATE/local")
    parser.add_argument("--doors", required=True, help="JSON: name -> {port, descriptor}")
    options = parser.parse_args()
    paths = LocalPaths(options.state)
    doors = DoorMap.from_json(json.loads(options.doors))
    for descriptor in doors.descriptors:
        os.set_inheritable(descriptor, True)
    lock = Lock(paths.keeper_lock)
    first = lock.try_acquire()
    if not first:
        lock.acquire()
    Keeper(paths, doors, lock).run(took_over=not first)
    return 0


if __name__ == "__main__":
    sys.exit(main())
