"""Containers: what they were asked to be, the process that runs, and how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.images import Image
from local.kubernetes.runtime import limits, pipes, watching
from local.kubernetes.runtime.faults import RuntimeFault, not_found, not_possible_now
from local.kubernetes.runtime.launch import (
    EXIT_FILE,
    LAUNCH_FILE,
    LOCK_FILE,
    PROCESS_FILE,
    START_FAILED_CODE,
    ExitRecord,
    Launch,
    ProcessRecord,
)
from local.kubernetes.runtime.sandboxes import Sandbox
from local.kubernetes.runtime.store import Store
from local.records import read_record, write_record

log = logging.getLogger("containers")

KILL_FILE = "killed.json"
"""Why the runtime killed the container of its own accord; written before it does."""
UNKNOWN_EXIT_CODE = 255
"""As other runtimes report a container that ended while nobody watched."""
_IMPORT_ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Container:
    """One container."""

    id: str
    sandbox_id: str
    config: Any
    """ContainerConfig."""
    created_at: int
    """Nanoseconds since 1970."""
    image_name: str
    image_id: str
    image_reference: str
    """As the pod named it."""
    stop_signal: int
    notes: list[str]
    """What of the request is not honoured here."""
    process: ProcessRecord | None = None
    end: ExitRecord | None = None
    pidfd: int | None = None
    """Of its first process, while it may run."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def state(self) -> int:
        """A ContainerState of the CRI."""
        if self.end is not None:
            return int(cri.CONTAINER_EXITED)
        return int(cri.CONTAINER_CREATED if self.process is None else cri.CONTAINER_RUNNING)

    @property
    def running(self) -> bool:
        return self.process is not None and self.end is None

    @property
    def title(self) -> str:
        """How errors name it."""
        return f"container {self.config.metadata.name} ({self.id[:12]})"

    @property
    def memory_limit_bytes(self) -> int:
        """0: none."""
        return int(self.config.linux.resources.memory_limit_in_bytes)

    def as_record(self) -> dict[str, Any]:
        return {
            "sandbox": self.sandbox_id,
            "config": json_format.MessageToDict(self.config, preserving_proto_field_name=True),
            "created_at": self.created_at,
            "image": {"name": self.image_name, "id": self.image_id, "reference": self.image_reference},
            "stop_signal": self.stop_signal,
            "notes": self.notes,
        }

    @staticmethod
    def from_record(identifier: str, record: dict[str, Any]) -> Container:
        config = json_format.ParseDict(record["config"], cri.ContainerConfig(), ignore_unknown_fields=True)
        image = record["image"]
        return Container(
            identifier,
            record["sandbox"],
            config,
            int(record["created_at"]),
            image["name"],
            image["id"],
            image["reference"],
            int(record["stop_signal"]),
            list(record["notes"]),
        )


class Containers:
    """All containers of a node."""

    def __init__(self, store: Store, changed: Callable[[Container, int], None]) -> None:
        """`changed` is told of each container's events (a ContainerEventType)."""
        self._store = store
        self._changed = changed
        self._all: dict[str, Container] = {}
        self._watches: set[asyncio.Task[None]] = set()

    async def load(self) -> None:
        """Take over what an earlier runtime left: adopt what runs, find out how the rest ended."""
        for identifier, record in self._store.load("containers"):
            container = Container.from_record(identifier, record)
            self._all[identifier] = container
            if end := _read_end(self.folder(container)):
                container.process = _read_process(self.folder(container))
                self._finish(container, end, tell=False)
            elif (self.folder(container) / LOCK_FILE).exists():
                await self._adopt(container)

    def all(self) -> list[Container]:
        return list(self._all.values())

    def get(self, identifier: str) -> Container:
        """Raises RuntimeFault NOT_FOUND."""
        try:
            return self._all[identifier]
        except KeyError:
            raise not_found("container", identifier) from None

    def find(self, identifier: str) -> Container | None:
        return self._all.get(identifier)

    def of(self, sandbox: Sandbox) -> list[Container]:
        return [container for container in self._all.values() if container.sandbox_id == sandbox.id]

    def folder(self, container: Container) -> Path:
        return self._store.folder("containers", container.id)

    def create(
        self, sandbox: Sandbox, config: Any, image: Image, make_launch: Callable[[], tuple[Launch, list[str]]]
    ) -> Container:
        """Record a container that can be started. Raises RuntimeFault or OSError, and then there is none."""
        launch, notes = make_launch()
        reference = config.image.user_specified_image or config.image.image
        container = Container(
            self._store.new_id(),
            sandbox.id,
            config,
            time.time_ns(),
            image.name,
            image.id,
            reference,
            _stop_signal(config, image),
            notes,
        )
        folder = self.folder(container)
        (folder / "root").mkdir(parents=True)
        write_record(folder / LAUNCH_FILE, launch)
        self._store.save("containers", container.id, container.as_record())
        self._all[container.id] = container
        self._changed(container, cri.CONTAINER_CREATED_EVENT)
        return container

    async def start(self, container: Container) -> None:
        """Start it. Raises RuntimeFault with the program's or the system's words; the container has then ended with
        128."""
        async with container.lock:
            if container.state != cri.CONTAINER_CREATED:
                raise not_possible_now(f"{container.title}: start - it was started before. Create another container.")
            answer = await self._spawn(container)
            if "process" in answer:
                container.process = answer["process"]
                self._watch(container)
                self._changed(container, cri.CONTAINER_STARTED_EVENT)
                return
            message = str(answer["error"])
            end = _read_end(self.folder(container)) or self._record_end(
                container, START_FAILED_CODE, "StartError", message
            )
            self._finish(container, end, tell=True)
            raise RuntimeFault(f"{container.title}: could not be started - {message}")

    async def stop(self, container: Container, grace_seconds: float) -> None:
        """Ask its first process to end, and after the grace end all of it. Raises RuntimeFault if that does not
        work."""
        if not container.running or container.pidfd is None:
            return
        if grace_seconds > 0:
            watching.send_signal(container.pidfd, container.stop_signal)
            try:
                async with asyncio.timeout(grace_seconds):
                    await container.ended.wait()
            except TimeoutError:
                pass
            else:
                return
        # The first process of a process namespace takes all the others with it.
        watching.send_signal(container.pidfd, signal.SIGKILL)
        try:
            async with asyncio.timeout(limits.KILL_SECONDS):
                await container.ended.wait()
        except TimeoutError:
            raise RuntimeFault(
                f"{container.title}: still there {limits.KILL_SECONDS:.0f} s after SIGKILL - a process is stuck in the "
                f"kernel, or the disk below {self._store.root} is full"
            ) from None

    async def kill_for(self, container: Container, reason: str, message: str) -> None:
        """End it for a reason of the runtime's own, which its status will show."""
        if container.pidfd is None or not container.running:
            return
        with contextlib.suppress(OSError):  # the reason is lost on a full disk, the kill must not be
            write_record(self.folder(container) / KILL_FILE, {"reason": reason, "message": message})
        watching.send_signal(container.pidfd, signal.SIGKILL)

    async def remove(self, container: Container) -> None:
        """End it if it runs, and remove all that is known of it. Raises RuntimeFault or OSError."""
        await self.stop(container, 0)
        async with container.lock:
            await self._store.remove("containers", container.id)
            self._all.pop(container.id, None)
        self._changed(container, cri.CONTAINER_DELETED_EVENT)

    def update(self, container: Container, resources: Any) -> None:
        """Take new limits. Raises OSError and then changes nothing."""
        before = type(resources)()
        before.CopyFrom(container.config.linux.resources)
        container.config.linux.resources.MergeFrom(resources)
        try:
            self._store.save("containers", container.id, container.as_record())
        except OSError:
            container.config.linux.resources.CopyFrom(before)
            raise

    async def _spawn(self, container: Container) -> dict[str, Any]:
        """Start a shim; what it says about the start: `process`, or `error`."""
        folder = self.folder(container)
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context((folder / LOCK_FILE).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            said = stack.enter_context((folder / "shim.log").open("w"))
            ready, theirs = os.pipe()
            command = [
                sys.executable,
                "-S",
                "-s",
                "-P",
                "-m",
                "local.kubernetes.runtime.shim",
                str(folder),
                str(lock.fileno()),
                str(theirs),
            ]
            try:
                shim = subprocess.Popen(
                    command,
                    env={"PYTHONPATH": str(_IMPORT_ROOT), "LC_ALL": "C.UTF-8"},
                    pass_fds=(lock.fileno(), theirs),
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    start_new_session=True,
                )
            except BaseException:
                os.close(ready)
                raise
            finally:
                os.close(theirs)
            text = await pipes.read_until_end(ready, limits.START_SECONDS)
            if text is None:
                shim.kill()
            if not text:
                await asyncio.to_thread(shim.wait)
                words = (folder / "shim.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
                why = (
                    f"no answer within {limits.START_SECONDS:.0f} s"
                    if text is None
                    else (words or ["it ended without a word"])[-1]
                )
                return {"error": f"its shim failed: {why}"}
            answer: dict[str, Any] = json.loads(text)
            if "error" in answer:
                await asyncio.to_thread(shim.wait)
            # The shim is waited for by its pidfd; Popen must not complain that it still runs.
            shim.returncode = 0
            return answer

    async def _adopt(self, container: Container) -> None:
        """Find a container that was started by an earlier runtime."""
        folder = self.folder(container)
        deadline = time.monotonic() + limits.START_SECONDS
        while not (process := _read_process(folder)) and _is_locked(folder / LOCK_FILE) and time.monotonic() < deadline:
            # Its shim is just starting it, for a runtime that is gone; there is nothing to wait for but the file.
            await asyncio.sleep(0.02)
        if process:
            container.process = process
            self._watch(container)
            return
        message = "the runtime was killed while it started this container"
        end = _read_end(folder) or self._record_end(container, START_FAILED_CODE, "StartError", message)
        self._finish(container, end, tell=False)

    def _watch(self, container: Container) -> None:
        assert container.process is not None
        container.pidfd = watching.open_process(container.process["pid"], container.process["start_time"])
        task = asyncio.create_task(self._await_end(container, container.process))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)

    async def _await_end(self, container: Container, process: ProcessRecord) -> None:
        shim = watching.open_process(process["shim_pid"], process["shim_start_time"])
        if shim is not None:
            await watching.ended(shim)
            os.close(shim)
        watching.reap(process["shim_pid"])
        end = _read_end(self.folder(container))
        if end is None and container.pidfd is not None:
            # The shim was killed. The kernel kills the container with it; this makes sure, and waits.
            watching.send_signal(container.pidfd, signal.SIGKILL)
            if not await watching.ended_within(container.pidfd, limits.KILL_SECONDS):
                log.error("%s: still there after SIGKILL", container.title)
            end = self._record_end(
                container, 137, "Error", "the process that stood by it (its shim) was killed, and it with it"
            )
        elif end is None:
            end = self._record_end(
                container, UNKNOWN_EXIT_CODE, "Unknown", "it ended while neither its shim nor the runtime ran"
            )
        self._finish(container, end, tell=True)

    def _finish(self, container: Container, end: ExitRecord, *, tell: bool) -> None:
        killed = read_record(self.folder(container) / KILL_FILE)
        if killed and end["exit_code"] == 128 + signal.SIGKILL:
            end = {**end, "reason": str(killed["reason"]), "message": str(killed["message"])}
        container.end = end
        if container.pidfd is not None:
            os.close(container.pidfd)
            container.pidfd = None
        container.ended.set()
        if tell:
            self._changed(container, cri.CONTAINER_STOPPED_EVENT)

    def _record_end(self, container: Container, code: int, reason: str, message: str) -> ExitRecord:
        end: ExitRecord = {"exit_code": code, "finished_at": time.time_ns(), "reason": reason, "message": message}
        try:
            write_record(self.folder(container) / EXIT_FILE, end)
        except OSError as error:
            # A later runtime comes to the same end by itself.
            log.warning("%s: its end could not be written down: %s", container.title, error)
        return end


def _read_end(folder: Path) -> ExitRecord | None:
    record = read_record(folder / EXIT_FILE)
    if not record:
        return None
    return {
        "exit_code": int(record["exit_code"]),
        "finished_at": int(record["finished_at"]),
        "reason": str(record["reason"]),
        "message": str(record["message"]),
    }


def _read_process(folder: Path) -> ProcessRecord | None:
    record = read_record(folder / PROCESS_FILE)
    if not record:
        return None
    return {
        "pid": int(record["pid"]),
        "start_time": int(record["start_time"]),
        "shim_pid": int(record["shim_pid"]),
        "shim_start_time": int(record["shim_start_time"]),
        "pid_namespace": int(record["pid_namespace"]),
        "started_at": int(record["started_at"]),
    }


def _is_locked(path: Path) -> bool:
    with path.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def _stop_signal(config: Any, image: Image) -> int:
    name = image.config.stop_signal
    if config.stop_signal != cri.RUNTIME_DEFAULT:
        name = cri.Signal.Name(config.stop_signal).replace("PLUS", "+").replace("MINUS", "-")
    for base in ("SIGRTMIN", "SIGRTMAX"):
        if name.startswith(base):
            return int(getattr(signal, base)) + int(name[len(base) :] or 0)
    try:
        return int(name) if name.isdigit() else int(signal.Signals[name if name.startswith("SIG") else f"SIG{name}"])
    except KeyError:
        raise RuntimeFault(
            f"image {image.name}: STOPSIGNAL {name} - there is no such signal. Use a name of signal(7)."
        ) from None
