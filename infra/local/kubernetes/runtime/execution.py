"""Commands executed in a running container, for probes, hooks and `kubectl exec`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import grpc

from local.kubernetes.runtime import limits
from local.kubernetes.runtime.containers import Container
from local.kubernetes.runtime.faults import RuntimeFault, not_possible_now, refused

_IMPORT_ROOT = Path(__file__).resolve().parents[3]

Stream = int | IO[bytes]


@dataclass(frozen=True)
class Result:
    """What a command that has ended left."""

    stdout: bytes
    stderr: bytes
    exit_code: int


async def start(
    container: Container, folder: Path, argv: Sequence[str], *, stdin: Stream, stdout: Stream, stderr: Stream, terminal: bool = False
) -> asyncio.subprocess.Process:
    """Start `argv` in the container with these streams. Its exit code becomes the returned process's.

    Raises RuntimeFault if the container does not run.
    """
    if not argv:
        raise refused(f"{container.title}: exec - no command given. Name a program.")
    if container.pidfd is None or not container.running:
        raise not_possible_now(f"{container.title}: exec {argv[0]} - it does not run. Wait until it does.")
    pidfd = os.dup(container.pidfd)
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-s", "-P", "-m", "local.kubernetes.runtime.enter", str(folder), str(pidfd), str(int(terminal)), "--", *argv,
            env={"PYTHONPATH": str(_IMPORT_ROOT), "LC_ALL": "C.UTF-8"}, pass_fds=(pidfd,), start_new_session=True,
            stdin=stdin, stdout=stdout, stderr=stderr,
        )  # fmt: skip
    finally:
        os.close(pidfd)


async def run(container: Container, folder: Path, argv: Sequence[str], timeout_seconds: float) -> Result:
    """Run `argv` to its end. 0 seconds: without a limit.

    Raises RuntimeFault DEADLINE_EXCEEDED when time is up; the command has then been killed.
    """
    process = await start(
        container, folder, argv, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    outputs = (bytearray(), bytearray())
    streams = zip((process.stdout, process.stderr), outputs, strict=True)
    readers = [asyncio.create_task(_read(stream, output)) for stream, output in streams]
    try:
        async with asyncio.timeout(timeout_seconds or None):
            code = await process.wait()
        await asyncio.wait(readers, timeout=limits.DRAIN_SECONDS)
        return Result(bytes(outputs[0]), bytes(outputs[1]), code)
    except TimeoutError:
        raise RuntimeFault(
            f"{container.title}: exec {argv[0]} - not done within {timeout_seconds:g} s, and killed", grpc.StatusCode.DEADLINE_EXCEEDED
        ) from None
    finally:
        await end(process)
        for reader in readers:
            reader.cancel()


async def end(process: asyncio.subprocess.Process) -> None:
    """Kill an executed command if it still runs; the kernel ends it with the process outside that it hangs on."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGKILL)
        await process.wait()


async def _read(stream: asyncio.StreamReader, output: bytearray) -> None:
    """Add all that comes to `output`, of which the first part up to the cap is kept."""
    while data := await stream.read(64 * 1024):
        output += data[: limits.EXEC_OUTPUT_BYTES_MAX - len(output)]
