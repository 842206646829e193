"""Commands executed in a running container, for probes, hooks and `kubectl exec`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from local.kubernetes.runtime import limits, pipes, watching
from local.kubernetes.runtime.containers import Container
from local.kubernetes.runtime.faults import RuntimeFault, not_possible_now, refused

_IMPORT_ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Result:
    """What a command that has ended left."""

    stdout: bytes
    stderr: bytes
    exit_code: int


@dataclass
class Command:
    """A command that runs in a container, by way of a helper process outside it."""

    process: subprocess.Popen[bytes]
    pidfd: int
    stdin: asyncio.StreamWriter | None = None
    outputs: dict[str, asyncio.StreamReader] = field(default_factory=dict)
    """Readers for `stdout` and `stderr`, as asked for."""
    transports: list[asyncio.BaseTransport] = field(default_factory=list)

    async def wait(self) -> int:
        """Its exit code, when it has ended. Children it leaves behind may hold its pipes: they are not waited for."""
        await watching.ended(self.pidfd)
        return self.process.wait()

    async def end(self) -> None:
        """Kill it if it still runs, and let go of it."""
        if self.process.returncode is None:
            # The helper kills the command and waits for it; killed itself, it would leave a process without a parent.
            watching.send_signal(self.pidfd, signal.SIGTERM)
            if not await watching.ended_within(self.pidfd, limits.KILL_SECONDS):
                watching.send_signal(self.pidfd, signal.SIGKILL)
            await self.wait()
        os.close(self.pidfd)
        if self.stdin is not None:
            self.stdin.close()
        for transport in self.transports:
            transport.close()


async def start(
    container: Container, folder: Path, argv: Sequence[str], *, streams: Sequence[str] = (), terminal: int | None = None
) -> Command:
    """Start `argv` in the container, with pipes for the `streams` named (stdin, stdout, stderr), or all on `terminal`.

    Raises RuntimeFault if the container does not run.
    """
    if not argv:
        raise refused(f"{container.title}: exec - no command given. Name a program.")
    if container.pidfd is None or not container.running:
        raise not_possible_now(f"{container.title}: exec {argv[0]} - it does not run. Wait until it does.")
    own: dict[str, int] = {}
    theirs: dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        pidfd = os.dup(container.pidfd)
        stack.callback(os.close, pidfd)
        for name in streams:
            read_end, write_end = os.pipe()
            own[name], theirs[name] = (write_end, read_end) if name == "stdin" else (read_end, write_end)
            stack.callback(os.close, theirs[name])
        if terminal is not None:
            theirs = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
        helper = [sys.executable, "-S", "-s", "-P", "-m", "local.kubernetes.runtime.enter"]
        try:
            process = subprocess.Popen(
                [*helper, str(folder), str(pidfd), "0" if terminal is None else "1", "--", *argv],
                env={"PYTHONPATH": str(_IMPORT_ROOT), "LC_ALL": "C.UTF-8"},
                pass_fds=(pidfd,),
                start_new_session=True,
                stdin=theirs.get("stdin", subprocess.DEVNULL),
                stdout=theirs.get("stdout", subprocess.DEVNULL),
                stderr=theirs.get("stderr", subprocess.DEVNULL),
            )
        except BaseException:
            for descriptor in own.values():
                os.close(descriptor)
            raise
    command = Command(process, os.pidfd_open(process.pid))
    for name, descriptor in own.items():
        if name == "stdin":
            command.stdin = await pipes.writer_of(descriptor)
        else:
            command.outputs[name], transport = await pipes.reader_of(descriptor)
            command.transports.append(transport)
    return command


async def run(container: Container, folder: Path, argv: Sequence[str], timeout_seconds: float) -> Result:
    """Run `argv` to its end. 0 seconds: without a limit.

    Raises RuntimeFault DEADLINE_EXCEEDED when time is up; the command has then been killed.
    """
    command = await start(container, folder, argv, streams=("stdout", "stderr"))
    kept = {name: bytearray() for name in command.outputs}
    readers = [asyncio.create_task(_read(reader, kept[name])) for name, reader in command.outputs.items()]
    try:
        async with asyncio.timeout(timeout_seconds or None):
            code = await command.wait()
        await asyncio.wait(readers, timeout=limits.DRAIN_SECONDS)
        return Result(bytes(kept["stdout"]), bytes(kept["stderr"]), code)
    except TimeoutError:
        raise RuntimeFault(
            f"{container.title}: exec {argv[0]} - not done within {timeout_seconds:g} s, and killed",
            grpc.StatusCode.DEADLINE_EXCEEDED,
        ) from None
    finally:
        # To its end even if the kubelet has given up.
        await asyncio.shield(command.end())
        for task in readers:
            task.cancel()


async def _read(reader: asyncio.StreamReader, output: bytearray) -> None:
    """Add all that comes to `output`, of which the first part up to the cap is kept."""
    while data := await reader.read(64 * 1024):
        output += data[: limits.EXEC_OUTPUT_BYTES_MAX - len(output)]
