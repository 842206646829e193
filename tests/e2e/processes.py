"""Finds the processes of one local cloud from outside, and kills them as an accident would."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path


def of_site(state: Path) -> Iterator[tuple[int, list[str]]]:
    """(host pid, argv) of every process that names this site's state folder, and of all that descend from one that does.

    Containers are process namespaces of their own and know nothing of the state; but the cloud's first process is their
    ancestor, as every orphan inside becomes its child.
    """
    parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
    mine = {pid for pid in parents if _mentions(pid, str(state))} - {os.getpid()}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in mine} - mine
        mine |= more
        grown = bool(more)
    for pid in sorted(mine):
        if argv := _argv(pid):
            yield pid, argv


def find(state: Path, *words: str) -> list[int]:
    """Host pids of the site's processes whose command line holds all the words."""
    return [pid for pid, argv in of_site(state) if all(word in " ".join(argv) for word in words)]


def kill(pid: int) -> None:
    """SIGKILL: nothing can be tidied up by the victim."""
    os.kill(pid, signal.SIGKILL)


def networks() -> frozenset[str]:
    """Network namespaces that some process of this machine lives in."""
    found = set()
    for pid in _pids():
        with contextlib.suppress(OSError):
            found.add(str(Path(f"/proc/{pid}/ns/net").readlink()))
    return frozenset(found)


def mounts_below(folder: Path) -> list[str]:
    """Mount points of this machine below the folder."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [point for line in lines if (point := line.split()[4]).startswith(str(folder))]


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


def _parent(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return None
