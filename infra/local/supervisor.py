"""The first process of the namespace: starts every other one, restarts what dies, reaps what is orphaned.

`python -m local.supervisor --state DIR --doors JSON`, run by the keeper only. Parts that come and go (nodes) hand it rows over
`supervisor.sock`, one JSON object a line:

    {"group": "nodes", "processes": [ROW, ...]}   these are all the rows of the group from here on; answers {"ok": true}
    {"processes": true}                           answers {"processes": [...]} as `supervisor.json` has them
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tandem.errors import TandemError

from local import limits, namespace
from local.doors import DoorMap
from local.events import Events, describe_exit, moment
from local.locks import Lock
from local.logs import open_log, rotate
from local.paths import LocalPaths, inside_paths
from local.processes import Process, TableError, back_off, start_waves
from local.readiness import is_ready
from local.records import read_record, write_record
from local.regions import in_order
from local.settings import load_settings
from local.table import static_rows

_STATIC = "local"
_ROTATE_SECONDS = 10.0


class Supervised:
    """One row and what became of it."""

    def __init__(self, row: Process, group: str, restarts: int = 0) -> None:
        self.row = row
        self.group = group
        self.restarts = restarts
        self.failures = 0
        self.state = "waiting"
        self.since = moment()
        self.last_exit: str | None = None
        self.child: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.ready = asyncio.Event()
        self.ended = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def set_state(self, state: str) -> None:
        if state != self.state:
            self.state, self.since = state, moment()

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.row.name,
            "group": self.group,
            "pid": self.child.pid if self.child is not None else None,
            "state": self.state,
            "restarts": self.restarts,
            "since": self.since,
            "last_exit": self.last_exit,
        }


class Supervisor:
    """Runs a table of rows for as long as the namespace lives."""

    def __init__(self, paths: LocalPaths) -> None:
        self._paths = paths
        former = read_record(paths.supervisor_record)
        self._events = Events(former.get("events", ()))
        self._former_restarts = {entry["name"]: int(entry["restarts"]) for entry in former.get("processes", ())}
        self._known: dict[str, Supervised] = {}
        self._by_pid: dict[int, Supervised] = {}
        self._removals: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()

    async def run(self, rows: list[Process]) -> None:
        """Start `rows` and keep them running until SIGTERM; then stop everything."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopping.set)
        self._paths.supervisor_socket.unlink(missing_ok=True)
        server = await asyncio.start_unix_server(self._serve, self._paths.supervisor_socket, limit=16 * 1024 * 1024)
        recorder = asyncio.create_task(self._record())
        rotator = asyncio.create_task(self._rotate())
        self.set_group(_STATIC, rows)
        await self._stopping.wait()
        server.close()
        rotator.cancel()
        await self._stop_all()
        self._events.add("supervisor", "stopped", "the local cloud was stopped")
        recorder.cancel()
        self._write()
        self._paths.supervisor_socket.unlink(missing_ok=True)

    def set_group(self, group: str, rows: list[Process]) -> None:
        """Make `rows` all the rows of `group`: start new ones, stop those that left, replace those that changed.

        Raises TableError, and then changes nothing.
        """
        others = [known.row for known in self._known.values() if known.group != group]
        start_waves([*others, *rows])
        wanted = {row.name: row for row in rows}
        for name, known in list(self._known.items()):
            if known.group == group and wanted.get(name) != known.row:
                del self._known[name]
                self._remove(known, replaced=name in wanted)
        for row in rows:
            if row.name not in self._known:
                known = Supervised(row, group, self._former_restarts.get(row.name, 0))
                self._known[row.name] = known
                known.task = asyncio.create_task(self._live(known))
        self._changed.set()

    async def _live(self, known: Supervised) -> None:
        """The life of one row: wait, start, watch, and again."""
        for name in known.row.after:
            await self._known[name].ready.wait()
        # A removed row of the same name may still be on its way out, with its port.
        await asyncio.gather(
            *(task for task in self._removals if task.get_name() == known.row.name), return_exceptions=True
        )
        while True:
            known.ended.clear()
            self._start(known)
            watcher = asyncio.create_task(self._watch_ready(known))
            await known.ended.wait()
            watcher.cancel()
            self._changed.set()
            if known.state == "done":
                return
            pause = back_off(known.failures, limits.BACK_OFF_FIRST, limits.BACK_OFF_MAX)
            known.set_state("backoff")
            await asyncio.sleep(pause)
            known.restarts += 1

    def _start(self, known: Supervised) -> None:
        row = known.row
        known.started_at = time.time()
        log = open_log(self._paths.logs, row.name)
        try:
            known.child = subprocess.Popen(
                row.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **row.env},
                cwd="/",
                pass_fds=row.descriptors,
                start_new_session=True,
            )
        except OSError as error:
            known.failures += 1
            known.last_exit = f"{error.filename}: {error.strerror}"
            self._events.add(row.name, "died", f"{row.name} cannot be started: {known.last_exit}")
            known.ended.set()
            return
        finally:
            os.close(log)
        self._by_pid[known.child.pid] = known
        known.set_state("starting")
        if known.restarts and known.last_exit:
            self._events.add(row.name, "restarted", f"{row.name} was restarted (restart {known.restarts})")
        self._changed.set()

    async def _watch_ready(self, known: Supervised) -> None:
        if known.row.ready.kind == "finished":
            return
        while not await is_ready(known.row.ready, known.started_at, known.row.network):
            await asyncio.sleep(limits.READY_POLL_SECONDS)
        known.set_state("ready")
        seconds = time.time() - known.started_at
        self._events.add(known.row.name, "ready", f"{known.row.name} is ready after {seconds:.1f} s")
        known.ready.set()
        self._changed.set()

    def _reap(self) -> None:
        """Collect every child that ended: rows, and orphans that the kernel gave to this first process."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            known = self._by_pid.pop(pid, None)
            if known is not None and known.child is not None:
                self._note_end(known, known.child, os.waitstatus_to_exitcode(status))

    def _note_end(self, known: Supervised, child: subprocess.Popen[bytes], code: int) -> None:
        child.returncode = code  # tells Popen that there is nothing left to wait for
        known.child = None
        known.last_exit = describe_exit(code)
        known.ended.set()
        self._changed.set()
        if known.state in ("stopping", "done"):
            return
        if known.row.ready.kind == "finished" and code == 0:
            known.set_state("done")
            known.ready.set()
            return
        lived = time.time() - known.started_at
        known.failures = 1 if lived >= limits.BACK_OFF_RESET else known.failures + 1
        self._events.add(known.row.name, "died", f"{known.row.name} died after {lived:.1f} s: {known.last_exit}")

    def _remove(self, known: Supervised, replaced: bool) -> None:
        if known.task is not None:
            known.task.cancel()
        task = asyncio.create_task(self._stop(known), name=known.row.name)
        self._removals.add(task)
        task.add_done_callback(self._removals.discard)
        if not replaced:
            self._events.add(known.row.name, "removed", f"{known.row.name} is not wanted any more and was stopped")

    async def _stop(self, known: Supervised) -> None:
        """SIGTERM, then SIGKILL, to the row's whole process group."""
        known.set_state("stopping")
        if known.child is None:
            return
        pid = known.child.pid
        known.ended.clear()
        _signal_group(pid, signal.SIGTERM)
        try:
            await asyncio.wait_for(known.ended.wait(), known.row.stop_seconds)
        except TimeoutError:
            _signal_group(pid, signal.SIGKILL)
            await known.ended.wait()

    async def _stop_all(self) -> None:
        for known in self._known.values():
            if known.task is not None:
                known.task.cancel()
        stops = [asyncio.create_task(self._stop(known)) for known in self._known.values()]
        if stops:
            # The end of the namespace kills whatever is slower.
            await asyncio.wait(stops, timeout=limits.STOP_SECONDS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                writer.write(json.dumps(self._answer(line)).encode() + b"\n")
                await writer.drain()
        writer.close()

    def _answer(self, line: bytes) -> dict[str, Any]:
        try:
            question = json.loads(line)
            if "group" not in question:
                return {"processes": [known.as_json() for known in self._known.values()]}
            if question["group"] == _STATIC:
                raise TableError(
                    f"supervisor: group {_STATIC} - it belongs to the local cloud itself. Use another name."
                )
            self.set_group(str(question["group"]), [Process.from_json(row) for row in question["processes"]])
        except (ValueError, KeyError, TypeError, TableError) as error:
            return {"ok": False, "error": str(error)}
        return {"ok": True}

    async def _record(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            self._write()
            await asyncio.sleep(limits.READY_POLL_SECONDS)  # many changes at once are one write

    async def _rotate(self) -> None:
        while True:
            await asyncio.sleep(_ROTATE_SECONDS)
            rotate(self._paths.logs)

    def _write(self) -> None:
        processes = [known.as_json() for known in self._known.values()]
        write_record(self._paths.supervisor_record, {"processes": processes, "events": self._events.as_json()})


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def main() -> int:
    """Become the namespace's first process. Returns an exit code."""
    parser = argparse.ArgumentParser(prog="local.supervisor", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="TANDEM_STATE/local, as the host sees it")
    parser.add_argument("--doors", required=True, help="JSON: name -> {port, descriptor}")
    options = parser.parse_args()
    paths = inside_paths()
    lock = Lock(LocalPaths(options.state).namespace_lock)
    if not lock.try_acquire():
        print(
            f"supervisor: {options.state} - another namespace runs on this state. Not starting a second.",
            file=sys.stderr,
        )
        return 3
    try:
        settings = load_settings(LocalPaths(options.state).settings)
        namespace.furnish(options.state, in_order(settings.regions))
        rows = static_rows(settings, DoorMap.from_json(json.loads(options.doors)), paths)
    except subprocess.CalledProcessError as error:
        print(f"supervisor: {' '.join(error.cmd)}: {error.stderr.strip()}", file=sys.stderr)
        return 1
    except TandemError as error:
        print(f"supervisor: {error}", file=sys.stderr)
        return 1
    asyncio.run(Supervisor(paths).run(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
