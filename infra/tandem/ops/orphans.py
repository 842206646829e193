"""Ends what a killed engine left running: its plugins, which do not notice that nobody will ever call them again."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

ENGINE = "pulumi"
PLUGINS = ("pulumi-resource-", "pulumi-language-")
STAND_IN = "local.aws.plugin"


def end(state: Path, proc: Path = Path("/proc")) -> int:
    """Kills the orphaned plugins of engines that worked on `state`; gives how many. Those of a living engine stay."""
    found = list(_orphans(state, proc))
    for pid in found:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    return len(found)


def _orphans(state: Path, proc: Path) -> Iterator[int]:
    mine = f"TANDEM_STATE={state}".encode()
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = _words(folder)
            if not _is_plugin(words) or mine not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if not _has_engine(proc / parent):
                yield int(folder.name)
        except OSError:
            continue  # it ended meanwhile, or is somebody else's


def _words(folder: Path) -> list[str]:
    return (folder / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")


def _is_plugin(words: list[str]) -> bool:
    return any(Path(word).name.startswith(PLUGINS) for word in words[:2]) or STAND_IN in words


def _has_engine(parent: Path) -> bool:
    """Whether the parent is an engine, or a plugin: the language host starts the program."""
    try:
        words = _words(parent)
    except OSError:
        return False
    return Path(words[0]).name == ENGINE or _is_plugin(words)
