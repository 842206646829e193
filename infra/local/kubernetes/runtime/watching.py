"""Waits for the end of processes that may not be this one's children, without asking again and again."""

# a path of /proc is no file to work with.
# ruff: noqa: PTH123

from __future__ import annotations

import asyncio
import contextlib
import os
import signal

from local.kubernetes.runtime.launch import start_time


def open_process(pid: int, started: int) -> int | None:
    """A pidfd of the process `pid` that started at tick `started`; None if it is gone or another has its number."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return None
    # Looked at after opening: from here on the descriptor cannot come to mean another process.
    try:
        if start_time(pid) == started and not is_zombie(pid):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def is_zombie(pid: int) -> bool:
    """Whether the process has ended and only waits for its parent to notice. Raises OSError if there is none."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")


async def ended(pidfd: int) -> None:
    """Return when the process has ended."""
    loop = asyncio.get_running_loop()
    # A descriptor of its own: the loop keeps one reader for each, and several may wait for one process.
    descriptor = os.dup(pidfd)
    future: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        loop.remove_reader(descriptor)
        if not future.done():
            future.set_result(None)

    loop.add_reader(descriptor, wake)
    try:
        await future
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def ended_within(pidfd: int, seconds: float) -> bool:
    """Whether the process ends within that time."""
    try:
        async with asyncio.timeout(seconds):
            await ended(pidfd)
    except TimeoutError:
        return False
    return True


def send_signal(pidfd: int, number: int) -> None:
    """Signal a process; one that has ended is no error."""
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(pidfd, number)


def reap(pid: int) -> None:
    """Let a child that has ended go; one that is not this process's child is no error."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
