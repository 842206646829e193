"""Compiles one part with `go build`, showing how far it is, and puts the result into the cache in one step."""

from __future__ import annotations

import collections
import ctypes
import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from toolchain import failures
from toolchain.golang import Go
from toolchain.pins import Part

REPORT_EVERY_S = 15.0
"""Seconds between two progress lines: often enough to see life, seldom enough for a log file."""
_MEASURED_CORES = 2
"""The times in `pins` were measured on a machine with this many cores."""
_MEMORY_PER_JOB_BYTES = 2 << 30
"""What one compiler may need; more jobs than memory allows end in a killed build."""
_PR_SET_PDEATHSIG = 1

Say = Callable[[str], None]


def build(part: Part, go: Go, folder: Path, say: Say) -> None:
    """Build `part` into `folder`, which appears only when whole; one that lost a file is replaced."""
    started = time.monotonic()
    unfinished = folder.with_name(f".unfinished-{folder.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    say(f"{part.name}: fetching sources")
    packages = len(_run_quietly(part, go, ["list", *part.list_flags(), "-deps", part.package]).splitlines())
    minutes = part.minutes_cold * _MEASURED_CORES / _jobs()
    say(f"{part.name}: compiling {packages} packages with Go {go.release} (from cold about {minutes:.0f} min)")
    command = ["build", "-v", f"-p={_jobs()}", *part.build_flags(), "-o", str(unfinished / part.name), part.package]
    _run_with_progress(part, go, command, packages, say)
    for extra in part.extras:
        source = Path(_run_quietly(part, go, ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", extra.module]).strip())
        target = unfinished / extra.name
        shutil.copyfile(source / extra.path, target)
        target.chmod(0o755 if extra.executable else 0o644)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.rename(folder)
    size_mb = sum(file.stat().st_size for file in folder.iterdir()) / 1e6
    say(f"{part.name}: built, {size_mb:.0f} MB, {duration(time.monotonic() - started)}")


def duration(seconds: float) -> str:
    """Seconds in words, for example `2 min 5 s`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _jobs() -> int:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    wanted = int(os.environ.get("GOMAXPROCS") or len(os.sched_getaffinity(0)))
    return max(1, min(wanted, memory // _MEMORY_PER_JOB_BYTES))


def _run_quietly(part: Part, go: Go, arguments: list[str]) -> str:
    command = [str(go.executable), *arguments]
    done = subprocess.run(command, cwd=part.module, env=go.environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise failures.explain(part.name, done.stderr, go.folders)
    return done.stdout


def _run_with_progress(part: Part, go: Go, arguments: list[str], packages: int, say: Say) -> None:
    """Run `go build -v`, which prints the name of each package that it compiles."""
    started = time.monotonic()
    process = subprocess.Popen(
        [str(go.executable), *arguments],
        cwd=part.module,
        env=go.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    assert process.stderr is not None
    try:
        output = _follow(part, process.stderr, packages, started, say)
        code = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    if code:
        raise failures.explain(part.name, output, go.folders)


def _end_with_parent() -> None:
    """Have the kernel end this process with the build: a compiler that outlives it would take memory from the next one."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _follow(part: Part, stream: IO[bytes], packages: int, started: float, say: Say) -> str:
    """Read the compiler's lines to their end, report now and then, and give back the last of them."""
    lines: collections.deque[str] = collections.deque(maxlen=200)
    compiled = 0
    due = started + REPORT_EVERY_S
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            if selector.select(timeout=max(0.0, due - time.monotonic())):
                chunk = os.read(stream.fileno(), 1 << 16)
                if not chunk:
                    break
                *whole, rest = (rest + chunk).split(b"\n")
                lines.extend(line.decode(errors="replace") for line in whole)
                compiled += len(whole)
            if time.monotonic() >= due:
                due += REPORT_EVERY_S
                doing = (
                    f"{compiled} of at most {packages} packages compiled" if compiled else "checking what is compiled"
                )
                say(f"{part.name}: {doing}, {duration(time.monotonic() - started)}")
    lines.append(rest.decode(errors="replace"))
    return "\n".join(lines)
