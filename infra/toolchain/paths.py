"""Where the toolchain is, looked up without building anything or starting a process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolchain import pins

RECORD = "toolchain.json"
"""Written last into a toolchain's folder: where it is, the toolchain is whole."""

BUILD_COMMAND = "make toolchain"


@dataclass(frozen=True)
class Toolchain:
    """One toolchain in the cache, present or not."""

    key: str
    root: Path
    missing: tuple[str, ...]
    """What is not there, by path below `root`; empty when the toolchain can be used."""

    @property
    def bin(self) -> Path:
        """Folder of the commands; goes first on PATH."""
        return self.root / "bin"

    @property
    def home(self) -> Path:
        """PULUMI_HOME: holds the provider plugins."""
        return self.root / "home"

    @property
    def versions(self) -> dict[str, str]:
        """Name to version of what it holds."""
        return pins.versions()

    @property
    def complete(self) -> bool:
        """Whether everything is there."""
        return not self.missing


def cache_root(environ: Mapping[str, str] = os.environ) -> Path:
    """The cache that all checkouts share: $TANDEM_CACHE, else $XDG_CACHE_HOME/tandem, else ~/.cache/tandem."""
    if chosen := environ.get("TANDEM_CACHE"):
        return Path(chosen).expanduser().absolute()
    if base := environ.get("XDG_CACHE_HOME"):
        return Path(base).expanduser().absolute() / "tandem"
    return Path(environ.get("HOME") or Path.home()) / ".cache" / "tandem"


def toolchains_root(environ: Mapping[str, str] = os.environ) -> Path:
    """Folder in which every toolchain, and every cached part, lies."""
    return cache_root(environ) / "toolchain"


def part_folder(part: pins.Part, environ: Mapping[str, str] = os.environ) -> Path:
    """Folder of one built part: the binary and its extra files."""
    return toolchains_root(environ) / "parts" / f"{part.name}-{part.key}"


def part_files(part: pins.Part, environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """Every file of a built part."""
    folder = part_folder(part, environ)
    return tuple(folder / name for name in (part.name, *(extra.name for extra in part.extras)))


def contents() -> tuple[str, ...]:
    """Every file a whole toolchain has, by path below its root."""
    kubernetes = f"home/plugins/resource-kubernetes-v{pins.KUBERNETES_PROVIDER}"
    return (
        "bin/pulumi",
        "bin/pulumi-language-python",
        f"bin/{pins.EXECUTOR}",
        "bin/kube",
        "bin/kubectl",
        "bin/coredns",
        f"{kubernetes}/{pins.KUBERNETES_PLUGIN}",
        f"{kubernetes}/schema.json",
        f"home/plugins/resource-aws-v{pins.AWS_PROVIDER}/pulumi-resource-aws",
        "lib/__main__.py",
        RECORD,
    )


def current(environ: Mapping[str, str] = os.environ) -> Toolchain:
    """The toolchain that this checkout's pins name. Reads a few small files; builds nothing."""
    root = toolchains_root(environ) / pins.key()
    return Toolchain(pins.key(), root, tuple(path for path in contents() if not (root / path).exists()))
