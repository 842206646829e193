"""Packages of the operating system that the local cloud needs, installed where that is possible and else named."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import MissingTool

_LIBRARY_FOLDERS = ("/lib", "/usr/lib", "/usr/local/lib", "/lib64", "/usr/lib64")
_COMMAND_FOLDERS = ("/usr/sbin", "/sbin")
"""Not on an ordinary user's PATH, but where `nft` is."""
_APT_LOCK_TIMEOUT_S = 300
"""Another apt (unattended upgrades) may hold dpkg's lock for minutes; beyond five a person should look."""


@dataclass(frozen=True)
class Need:
    """One Debian package, recognised by a file of it, so that other distributions and renamed packages count too."""

    package: str
    provides: str
    """A command, or the file name of a shared library."""
    reason: str

    @property
    def present(self) -> bool:
        """Whether this machine has it."""
        if ".so." not in self.provides:
            search = os.pathsep.join((os.environ.get("PATH", ""), *_COMMAND_FOLDERS))
            return shutil.which(self.provides, path=search) is not None
        folders = (Path(folder) for folder in _LIBRARY_FOLDERS)
        return any(
            next(folder.glob(pattern), None) for folder in folders for pattern in (self.provides, f"*/{self.provides}")
        )


NEEDS = (
    Need("iproute2", "ip", "the local cloud's network namespace, bridges and veth pairs"),
    Need("nftables", "nft", "kube-proxy and network policies"),
    Need("libibverbs1", "libibverbs.so.1", "the KV transfer engine, which links it even for TCP"),
    Need("librdmacm1", "librdmacm.so.1", "the KV transfer engine, which links it even for TCP"),
    Need("libnuma1", "libnuma.so.1", "the KV transfer engine"),
)

Run = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def missing() -> list[Need]:
    """What this machine lacks."""
    return [need for need in NEEDS if not need.present]


def command(needs: Sequence[Need]) -> str:
    """The line that a person types to install them."""
    return f"apt-get install -y --no-install-recommends {' '.join(need.package for need in needs)}"


def ensure(say: Callable[[str], None], run: Run | None = None) -> None:
    """Install what is missing when root on Debian or a child of it; else raise `MissingTool` naming all of it."""
    lacking = missing()
    if not lacking:
        return
    names = " ".join(need.package for need in lacking)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise MissingTool(
            f"packages: {names} - {'; '.join(f'{need.package}: {need.reason}' for need in lacking)}. "
            f"On Debian or Ubuntu run, as root: {command(lacking)}; elsewhere install what holds "
            f"{', '.join(need.provides for need in lacking)}."
        )
    say(f"installing Debian packages: {names}")
    _install([need.package for need in lacking], run or _run)
    if still := missing():
        raise MissingTool(
            f"packages: apt-get installed {names} but {', '.join(need.provides for need in still)} is not there - "
            "the package may be named otherwise here. Install what holds it."
        )


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(list(arguments), env=environment, capture_output=True, text=True, check=False)


def _install(packages: Sequence[str], run: Run) -> None:
    options = ["-q", "-o", f"DPkg::Lock::Timeout={_APT_LOCK_TIMEOUT_S}"]
    install = ["apt-get", *options, "install", "-y", "--no-install-recommends", *packages]
    if run(install).returncode == 0:
        return
    # Fresh images have no package lists, and old lists name files that the mirrors no longer have.
    updated = run(["apt-get", *options, "update"])
    done = run(install)
    if done.returncode:
        lines = [line for line in (updated.stderr + done.stderr).splitlines() if line.startswith(("E:", "W:"))]
        reason = lines[-1] if lines else f"exit status {done.returncode}"
        raise MissingTool(
            f"packages: {' '.join(packages)} - apt-get could not install them: {reason}. "
            f"Run: apt-get update && {' '.join(install)}"
        )
