"""One command at a time changes an environment from one checkout. Two would each take some stacks' locks, and both fail."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from tandem.errors import TandemError


class Busy(TandemError):
    """Another command changes the environment."""

    exit_code = 6


@contextlib.contextmanager
def changing(environment: str, state: Path) -> Iterator[None]:
    """Holds the environment for this process; the kernel lets go of it when the process ends, however. Raises `Busy`."""
    state.mkdir(parents=True, exist_ok=True)
    file = state / f"{environment}.lock"
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise Busy(
                f"environment {environment}: process id {holder} changes it - one command at a time. Wait for it, or end it."
            ) from None
        # The former holder may have removed the file between our opening and our locking it.
        if file.exists() and os.fstat(descriptor).st_ino == file.stat().st_ino:
            break
        os.close(descriptor)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        file.unlink(missing_ok=True)
        os.close(descriptor)
