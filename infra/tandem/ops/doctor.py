"""What this machine has and lacks for the local environment. Looks only; changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from toolchain import paths

from tandem.ops.environment import ROOT
from tandem.ops.shell import state_folder

MEMORY_GIB = 6
"""The local site at rest needs about 3 GiB; building the toolchain about 5."""
DISK_GIB = 8
"""Toolchain with its Go caches, the virtual environments, and the site's state."""


@dataclass(frozen=True)
class Check:
    """One thing looked at."""

    name: str
    ok: bool
    found: str
    fix: str

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def examine() -> list[Check]:
    """Every check, in the order in which a new machine meets them."""
    return [check for part in _PARTS for check in part()]


def _system() -> Iterator[Check]:
    yield Check("Linux", sys.platform == "linux", sys.platform, "The local cloud needs Linux namespaces")
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("Python", sys.version_info >= (3, 11), version, "Install Python 3.11 or newer")
    for tool, package in (("git", "git"), ("make", "make")):
        yield _tool(tool, package)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield Check("memory", memory >= MEMORY_GIB, f"{memory:.0f} GiB", f"At least {MEMORY_GIB} GiB are needed")
    for name, folder in (("disk of the checkout", ROOT), ("disk of the cache", paths.cache_root())):
        free = shutil.disk_usage(_existing(folder)).free / 2**30
        yield Check(name, free >= DISK_GIB, f"{free:.0f} GiB free", f"Free {DISK_GIB} GiB, or set TANDEM_CACHE")
    state = _existing(state_folder())
    yield Check("state folder", os.access(state, os.W_OK), str(state_folder()), "Make it writable, or set TANDEM_STATE")


def _namespaces() -> Iterator[Check]:
    yield _tool("unshare", "util-linux")
    yield _tool("nsenter", "util-linux")
    yield _tool("ip", "iproute2")
    yield _tool("nft", "nftables")
    flags = ["--net", "--mount", "--pid", "--fork"] + ([] if os.geteuid() == 0 else ["-U", "--map-root-user"])
    works = False
    if shutil.which("unshare"):
        works = subprocess.run(["unshare", *flags, "true"], capture_output=True, check=False).returncode == 0
    fix = "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, "
    fix += "kernel.apparmor_restrict_unprivileged_userns=0), or run as root"
    yield Check("namespaces", works, "can be made" if works else "refused by the kernel", fix)


def _libraries() -> Iterator[Check]:
    for library, package in (
        ("libibverbs.so.1", "libibverbs1"),
        ("librdmacm.so.1", "librdmacm1"),
        ("libnuma.so.1", "libnuma1"),
    ):
        found = any(Path(folder, library).exists() for folder in _LIBRARY_FOLDERS)
        yield Check(library, found, "found" if found else "not found", f"Run: apt-get install {package}")


def _toolchain() -> Iterator[Check]:
    tools = paths.current()
    found = str(tools.bin) if not tools.missing else f"lacks {', '.join(tools.missing)}"
    yield Check("toolchain", not tools.missing, found, "Run: make toolchain")


_LIBRARY_FOLDERS = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib/x86_64-linux-gnu",
)
_PARTS: tuple[Callable[[], Iterator[Check]], ...] = (_system, _namespaces, _libraries, _toolchain)


def _tool(name: str, package: str) -> Check:
    where = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    return Check(name, where is not None, where or "not found", f"Run: apt-get install {package}")


def _existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.parents) if parent.exists())
