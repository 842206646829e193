"""Finds the processes of one local cloud from outside, and kills them as an accident would."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path


def of_site(state: Path) -> Iterator[tuple[int, list[str]]]:
    """(host pid, argv) of every process whose environment or arguments name this site's state folder, or that lives in
    the PID namespace of one that does."""
    mine = {pid for pid in _pids() if _mentions(pid, str(state))}
    namespaces = {space for pid in mine if (space := _namespace(pid)) and space != _namespace(os.getpid())}
    for pid in sorted(_pids()):
        if pid in mine or _namespace(pid) in namespaces:
            argv = _argv(pid)
            if argv:
                yield pid, argv


def find(state: Path, *words: str) -> list[int]:
    """Host pids of the site's processes whose command line holds all the words."""
    return [pid for pid, argv in of_site(state) if all(word in " ".join(argv) for word in words)]


def kill(pid: int) -> None:
    """SIGKILL: nothing can be tidied up by the victim."""
    os.kill(pid, signal.SIGKILL)


def _pids() -> set[int]:
    return {int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()}


def _argv(pid: int) -> list[str]:
    try:
        return [part for part in Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0") if part]
    except OSError:
        return []


def _mentions(pid: int, text: str) -> bool:
    if pid == os.getpid():
        return False
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        environ = b""
    return text.encode() in environ or any(text in part for part in _argv(pid))


def _namespace(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return None
