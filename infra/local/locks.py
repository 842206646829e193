"""Locks between processes that say who holds them.

POSIX record locks: the kernel drops them with their holder, so none is ever stale, and it tells the holder's process id,
translated into the asker's own PID namespace. Two traps of theirs shape this module: a child does not inherit them, and closing
*any* descriptor of the file in the holding process drops them, so the file is opened once and stays open.
"""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

_FLOCK = "hhqqi4x"  # struct flock on 64-bit Linux: type, whence, start, length, pid


class Lock:
    """An exclusive lock on a file, held by this process until `release` or its end."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def acquire(self) -> None:
        """Wait for the lock, without a limit."""
        while True:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX)
            if self._is_current():
                return
            self._reopen()

    def try_acquire(self) -> bool:
        """Take the lock if nobody holds it."""
        while True:
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                return False
            if self._is_current():
                return True
            self._reopen()

    @property
    def released(self) -> bool:
        """Whether `release` or `remove` was called."""
        return self._descriptor < 0

    def release(self) -> None:
        os.close(self._descriptor)
        self._descriptor = -1

    def remove(self) -> None:
        """Delete the file and release the lock; a waiter notices and locks the next file of that name."""
        self._path.unlink(missing_ok=True)
        self.release()

    def _is_current(self) -> bool:
        """Whether the locked file still is the one at the path: `remove` of another process may have come between."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except FileNotFoundError:
            return False

    def _reopen(self) -> None:
        os.close(self._descriptor)
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def holder(path: Path) -> int | None:
    """The process id of whoever holds the lock on `path`, or None. 0 is a holder whom this PID namespace cannot see."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, question))
    finally:
        os.close(descriptor)
    return None if kind == fcntl.F_UNLCK else int(pid)
