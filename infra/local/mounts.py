"""The three system calls on mounts and namespaces that Python 3.11 does not have."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

_MS_BIND = 0x1000
_MS_REC = 0x4000
_MS_PRIVATE = 1 << 18
_MS_SHARED = 1 << 20
_CLONE_NEWNS = 0x00020000


def mount_tmpfs(target: Path, options: str = "mode=755") -> None:
    """Cover `target` with an empty file system in memory. Raises OSError."""
    _mount("tmpfs", target, "tmpfs", 0, options)


def bind(source: Path, target: Path) -> None:
    """Make `source` appear at `target` too. Raises OSError."""
    _mount(str(source), target, None, _MS_BIND, None)


def make_private(target: Path) -> None:
    """Keep mounts below `target` from appearing in other mount namespaces. Raises OSError."""
    _mount(None, target, None, _MS_REC | _MS_PRIVATE, None)


def make_shared(target: Path) -> None:
    """Let mounts below `target` appear in namespaces that are copied from this one. Raises OSError."""
    _mount(None, target, None, _MS_REC | _MS_SHARED, None)


def unshare_mounts() -> None:
    """Give this process a copy of its mount namespace. Raises OSError."""
    _check(_libc.unshare(_CLONE_NEWNS), "unshare")


def _mount(source: str | None, target: Path, kind: str | None, flags: int, options: str | None) -> None:
    code = _libc.mount(_bytes(source), _bytes(str(target)), _bytes(kind), ctypes.c_ulong(flags), _bytes(options))
    _check(code, str(target))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


def _check(code: int, where: str) -> None:
    if code != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), where)
