"""Logs of the local cloud's processes: one file each, cut before it grows without end."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tandem.errors import TandemError

from local import limits
from local.paths import LocalPaths

_FOLLOW_SECONDS = 0.2


class UnknownLog(TandemError):
    """No process of that name has written a log."""

    exit_code = 2


def open_log(folder: Path, name: str) -> int:
    """A descriptor that appends to the log of process `name`."""
    folder.mkdir(parents=True, exist_ok=True)
    return os.open(folder / f"{name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def rotate(folder: Path, bytes_max: int = limits.LOG_BYTES_MAX) -> list[str]:
    """Move the text of every log above `bytes_max` bytes to `<log>.1`; the names of those.

    The writers keep their open file, which is emptied: it is opened for appending, so they go on at its new end.
    """
    rotated = []
    for log in folder.glob("*.log"):
        if log.stat().st_size > bytes_max:
            shutil.copyfile(log, log.with_name(log.name + ".1"))
            os.truncate(log, 0)
            rotated.append(log.stem)
    return rotated


def last_lines(folder: Path, name: str, count: int) -> list[str]:
    """The end of the log of process `name`; empty if it has written nothing."""
    try:
        with (folder / f"{name}.log").open("rb") as file:
            return _tail(file, count)
    except FileNotFoundError:
        return []


def show(paths: LocalPaths, name: str, count: int, follow: bool) -> None:
    """Print the last `count` lines of a log, and with `follow` all that comes, until interrupted.

    Raises UnknownLog.
    """
    log = paths.logs / f"{name}.log"
    if not log.exists():
        known = ", ".join(sorted(path.stem for path in paths.logs.glob("*.log"))) or "none yet"
        raise UnknownLog(f"tandem-local logs: {name} - there is no such log. Known: {known}.")
    for line in last_lines(paths.logs, name, count):
        print(line)
    if follow:
        for text in _follow(log):
            sys.stdout.write(text)
            sys.stdout.flush()


def _tail(file: BinaryIO, count: int) -> list[str]:
    end = file.seek(0, os.SEEK_END)
    block = 8192
    while True:
        start = max(0, end - block)
        file.seek(start)
        data = file.read(end - start)
        if start == 0 or data.count(b"\n") > count:
            return data.decode(errors="replace").splitlines()[-count:]
        block *= 4


def _follow(log: Path) -> Iterator[str]:
    with log.open("rb") as file:
        file.seek(0, os.SEEK_END)
        while True:
            data = file.read()
            if data:
                yield data.decode(errors="replace")
            elif log.stat().st_size < file.tell():
                file.seek(0)
            else:
                time.sleep(_FOLLOW_SECONDS)
