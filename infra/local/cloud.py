"""Brings the local cloud up and down. Whatever state it is in, the same two commands lead out of it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from tandem.errors import CloudUnavailable, TandemError

from local import keeper, limits
from local.binaries import check_machine, find_binaries
from local.doors import open_doors, wanted_doors
from local.locks import Lock, holder
from local.logs import last_lines
from local.paths import LocalPaths
from local.records import read_record, write_record
from local.regions import Region, in_order
from local.settings import Settings, parse_settings
from local.status import Status, read_status

Say = Callable[[str], None]


def needed(regions: tuple[Region, ...]) -> tuple[str, ...]:
    """Processes that must serve before `up` returns; the rest comes up behind its back."""
    each = ("kube-apiserver", "authentication", "addons")
    return ("doors", "aws", *(region.named(name) for region in regions for name in each))


class SettingsDiffer(TandemError):
    """The cloud runs with other settings."""

    exit_code = 6


def up(paths: LocalPaths, settings: Settings, say: Say) -> Status:
    """Make the local cloud run and wait until moto, the API server and the doors answer.

    Raises TandemError: a port or a tool is missing, other settings are in force, or it does not become ready.
    """
    check_machine()
    find_binaries(settings)
    with _CommandLock(paths, say):
        running = holder(paths.keeper_lock) is not None
        if running:
            _check_same(paths, settings)
        else:
            _start(paths, settings)
        return _wait_ready(paths, needed(in_order(settings.regions)), say)


def down(paths: LocalPaths, purge: bool, say: Say) -> None:
    """End the local cloud: afterwards no process, namespace, mount, lock or socket of it is left. `purge` deletes its state too.

    Raises TandemError if something survives SIGKILL.
    """
    if not paths.root.exists():
        return
    with _CommandLock(paths, say) as lock:
        _end(paths)
        for leftover in _sockets(paths.root):
            leftover.unlink(missing_ok=True)
        for file in (paths.keeper_lock, paths.namespace_lock):
            file.unlink(missing_ok=True)
        if purge:
            _delete_all_but(paths.root, paths.command_lock)
        lock.remove()
    if purge:
        shutil.rmtree(paths.root, ignore_errors=True)


class _CommandLock:
    """One `up` or `down` at a time."""

    def __init__(self, paths: LocalPaths, say: Say) -> None:
        self._paths = paths
        self._say = say
        self._lock = Lock(paths.command_lock)

    def __enter__(self) -> Lock:
        if not self._lock.try_acquire():
            self._say(f"waiting for another tandem-local (process id {holder(self._paths.command_lock)})")
            deadline = time.monotonic() + limits.LOCK_SECONDS
            while not self._lock.try_acquire():
                if time.monotonic() > deadline:
                    owner = holder(self._paths.command_lock)
                    raise CloudUnavailable(
                        f"{self._paths.command_lock}: held by process id {owner} for {limits.LOCK_SECONDS:.0f} s - one command at a "
                        f"time. Wait for it, or end it."
                    )
                time.sleep(limits.READY_POLL_SECONDS)
        return self._lock

    def __exit__(self, *_: object) -> None:
        if not self._lock.released:
            self._lock.release()


def _check_same(paths: LocalPaths, settings: Settings) -> None:
    record = read_record(paths.settings)
    if not record:
        return
    current = parse_settings(record, str(paths.settings)).model_dump(mode="json")
    wanted = settings.model_dump(mode="json")
    changed = [
        f"{name} (is {current[name]}, wanted {wanted[name]})" for name in wanted if current[name] != wanted[name]
    ]
    if changed:
        raise SettingsDiffer(
            f"tandem-local up: {'; '.join(changed)} - the cloud runs with other settings, and changing them restarts every pod. "
            f"Run tandem-local down first."
        )


def _start(paths: LocalPaths, settings: Settings) -> None:
    keeper.end_namespace(paths)  # one that lost both of its keepers still holds the doors
    paths.root.mkdir(parents=True, exist_ok=True)
    paths.root.chmod(0o700)
    _check_disk(paths.root)
    regions = in_order(settings.regions)
    doors = open_doors(wanted_doors(settings.doors, regions))
    try:
        write_record(paths.settings, settings.model_dump(mode="json"))
        paths.supervisor_record.unlink(missing_ok=True)
        for region in regions:
            paths.of(region).nodes_record.unlink(missing_ok=True)
        paths.keeper_record.unlink(missing_ok=True)
        keeper.start(paths, doors)
    finally:
        for descriptor in doors.descriptors:
            os.close(descriptor)


def _check_disk(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < limits.DISK_BYTES_MIN:
        needed = limits.DISK_BYTES_MIN // 2**20
        raise CloudUnavailable(
            f"{folder}: {free // 2**20} MiB free - the local cloud's state needs {needed} MiB. Free some, or put the state "
            f"elsewhere: TANDEM_STATE=DIR."
        )


def _wait_ready(paths: LocalPaths, names: tuple[str, ...], say: Say) -> Status:
    started = time.monotonic()
    told: set[str] = set()
    while True:
        status = read_status(paths)
        for name in names:
            if name not in told and status.state_of(name) in ("ready", "done"):
                told.add(name)
                say(f"{name} ready after {time.monotonic() - started:.1f} s")
        if status.running and told.issuperset(names) and all(_answers(port) for port in status.doors.values()):
            return status
        if time.monotonic() - started > limits.UP_SECONDS:
            raise CloudUnavailable(_why_not_ready(paths, status, [name for name in names if name not in told]))
        time.sleep(limits.READY_POLL_SECONDS)


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=limits.PROBE_SECONDS).close()
    except OSError:
        return False
    return True


def _why_not_ready(paths: LocalPaths, status: Status, late: list[str]) -> str:
    # The first in order of start that dies or never gets ready: the others wait for it.
    failing = [str(process["name"]) for process in status.processes if process["state"] in ("backoff", "starting")]
    broken = failing[0] if failing else "supervisor"
    states = ", ".join(f"{name} is {status.state_of(name)}" for name in late) or "a door does not answer"
    lines = last_lines(paths.logs, broken, 5)
    tail = "".join(f"\n  {line}" for line in lines)
    return f"tandem-local up: not ready after {limits.UP_SECONDS:.0f} s - {states}. See `tandem-local logs {broken}`; it ends with:{tail}"


def _end(paths: LocalPaths) -> None:
    """End keepers until none holds the lock (a killed one has a twin that takes over), then what they left."""
    deadline = time.monotonic() + 3 * limits.DOWN_SECONDS
    while (acting := holder(paths.keeper_lock)) is not None:
        if time.monotonic() > deadline:
            what = f"process id {acting} does not end"
            raise CloudUnavailable(f"tandem-local down: {what} - it is a keeper of this state. Kill it and try again.")
        if not keeper.send(acting, signal.SIGTERM, limits.DOWN_SECONDS):
            keeper.send(acting, signal.SIGKILL, limits.DOWN_SECONDS)
    keeper.end_namespace(paths)


def _sockets(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_socket()]


def _delete_all_but(folder: Path, kept: Path) -> None:
    for entry in folder.iterdir():
        if entry == kept:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
