"""What containers use of the machine, from /proc: no control groups are needed, and none are available everywhere."""

# the paths are read for every process at every look.
# ruff: noqa: PTH116, PTH123, PTH208

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True)
class Usage:
    """One container's processes together."""

    processes: int = 0
    cpu_nanoseconds: int = 0
    """Time on a processor since the start, of ended children too."""
    rss_bytes: int = 0
    """Resident memory. Pages that several of the processes share count for each, so this is an upper bound."""
    page_faults: int = 0
    major_page_faults: int = 0


def processes_by_namespace(namespaces: Collection[int]) -> dict[int, list[int]]:
    """The processes in each of these process namespaces, given by inode."""
    found: dict[int, list[int]] = {namespace: [] for namespace in namespaces}
    for pid in _all_processes():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            namespace = os.stat(f"/proc/{pid}/ns/pid").st_ino
            if namespace in found:
                found[namespace].append(pid)
    return found


def usage_of(pids: Collection[int]) -> Usage:
    """The use of these processes together; one that has ended counts nothing."""
    total = Usage()
    for pid in pids:
        with contextlib.suppress(OSError):
            total = _add(total, _stat(pid))
    return total


def rss_bytes(pids: Collection[int]) -> int:
    """Resident memory of these processes, shared pages counted for each."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", "rb") as file:
            total += int(file.read().split()[1]) * _PAGE_BYTES
    return total


def proportional_bytes(pids: Collection[int]) -> int:
    """Memory of these processes with shared pages counted once among those that share them. Costs milliseconds for
    large processes."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    total += int(line.split()[1]) * 1024
                    break
    return total


def _all_processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _stat(pid: int) -> Usage:
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    # Numbers of fields as in proc(5), less the three before the closing parenthesis.
    faults, child_faults, major, child_major = (int(fields[number - 3]) for number in (10, 11, 12, 13))
    ticks = sum(int(fields[number - 3]) for number in (14, 15, 16, 17))
    return Usage(
        1,
        ticks * 1_000_000_000 // _TICKS_PER_SECOND,
        int(fields[24 - 3]) * _PAGE_BYTES,
        faults + child_faults,
        major + child_major,
    )


def _add(left: Usage, right: Usage) -> Usage:
    return Usage(
        left.processes + right.processes,
        left.cpu_nanoseconds + right.cpu_nanoseconds,
        left.rss_bytes + right.rss_bytes,
        left.page_faults + right.page_faults,
        left.major_page_faults + right.major_page_faults,
    )
