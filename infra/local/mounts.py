"""What the local cloud does with mounts, in its own words."""

from __future__ import annotations

from pathlib import Path

from local import linux


def mount_tmpfs(target: Path, options: str = "mode=755") -> None:
    """Cover `target` with an empty file system in memory. Raises OSError."""
    linux.mount("tmpfs", str(target), "tmpfs", options=options)


def bind(source: Path, target: Path) -> None:
    """Make `source`, without what is mounted below it, appear at `target` too. Raises OSError."""
    linux.mount(str(source), str(target), flags=linux.MS_BIND)


def make_private(target: Path) -> None:
    """Keep mounts below `target` from appearing in other mount namespaces. Raises OSError."""
    linux.mount("none", str(target), flags=linux.MS_REC | linux.MS_PRIVATE)


def make_shared(target: Path) -> None:
    """Let mounts below `target` appear in namespaces that are copied from this one. Raises OSError."""
    linux.mount("none", str(target), flags=linux.MS_REC | linux.MS_SHARED)


def unshare_mounts() -> None:
    """Give this process a copy of its mount namespace. Raises OSError."""
    linux.unshare(linux.CLONE_NEWNS)
