"""The programs that the local cloud runs, and what is missing on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import MissingTool

from local.settings import Settings

_PACKAGES = {"unshare": "util-linux", "ip": "iproute2", "nft": "nftables"}
"""Host programs that must be there, and the Debian package of each."""


@dataclass(frozen=True)
class Binaries:
    """Paths of the toolchain's programs."""

    kube: Path
    coredns: Path


def find_binaries(settings: Settings) -> Binaries:
    """The Kubernetes programs, from `settings.binaries` or the toolchain.

    Raises MissingTool if one is not built.
    """
    if settings.binaries is not None:
        folder, fix = settings.binaries, "correct the setting `binaries`"
    else:
        from toolchain import paths

        folder, fix = paths.current().bin, "run `make toolchain`"
    missing = [name for name in ("kube", "coredns") if not os.access(folder / name, os.X_OK)]
    if missing:
        raise MissingTool(
            f"{folder}: {' and '.join(missing)} not there - the local cloud runs the real Kubernetes. Build it: {fix}."
        )
    return Binaries(kube=folder / "kube", coredns=folder / "coredns")


def complete_path() -> None:
    """Let this process and its children find `nft` and `ip`, which are not on an ordinary user's PATH."""
    os.environ["PATH"] = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))


def check_machine(which: Callable[[str], str | None] = shutil.which) -> None:
    """Raise MissingTool unless this machine has what a private network namespace needs."""
    missing = sorted({package for program, package in _PACKAGES.items() if which(program) is None})
    if missing:
        packages = " ".join(missing)
        why = "the local cloud makes network namespaces with it"
        raise MissingTool(f"this machine: no {packages} - {why}. Run: apt-get install -y {packages}.")
