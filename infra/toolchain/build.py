"""Obtains the whole toolchain: what is built is kept, what is half-built is finished, one build runs at a time."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping

from toolchain import assemble, compile, failures, golang, lock, paths, pins

Say = Callable[[str], None]


def ensure(say: Say, environ: Mapping[str, str] = os.environ) -> paths.Toolchain:
    """The current toolchain, whole. Raises `failures.BuildFailed` with one message where it cannot be had."""
    toolchain = paths.current(environ)
    if toolchain.complete:
        return toolchain
    root = paths.toolchains_root(environ)
    try:
        with lock.exclusive(
            root / ".lock", lambda pid: say(f"another build (process {pid}) is running: waiting for it")
        ):
            _build(say, environ)
    except OSError as error:
        raise failures.cache_unusable(root, error) from error
    return paths.current(environ)


def _build(say: Say, environ: Mapping[str, str]) -> None:
    """Build what is missing; the lock is held, so that whatever is unfinished belongs to a build that died."""
    if paths.current(environ).complete:
        return
    started = time.monotonic()
    parts_root = paths.toolchains_root(environ) / "parts"
    for leftover in parts_root.glob(".unfinished-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    missing = missing_parts(environ)
    if missing:
        go = golang.find(say, environ)
        names = ", ".join(f"{part.name} {part.version}" for part in missing)
        say(f"building {len(missing)} of {len(pins.parts())} binaries with Go {go.release}: {names}")
        for part in missing:
            compile.build(part, go, paths.part_folder(part, environ), say)
    root = assemble.assemble(sys.executable, environ)
    say(f"ready in {root} ({compile.duration(time.monotonic() - started)})")


def missing_parts(environ: Mapping[str, str] = os.environ) -> list[pins.Part]:
    """Parts that must be compiled. Empty means that a build takes seconds."""
    return [part for part in pins.parts() if not all(file.exists() for file in paths.part_files(part, environ))]
