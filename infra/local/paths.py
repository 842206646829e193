"""Where the local cloud keeps its files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolchain.folders import usable

from local.regions import Region

INSIDE: Final = Path("/run/tandem")
"""`TANDEM_STATE/local` as processes inside the namespace see it: short, so that socket paths fit."""


@dataclass(frozen=True)
class LocalPaths:
    """The files below `root`, which is `TANDEM_STATE/local` on the host and `/run/tandem` inside."""

    root: Path

    @property
    def settings(self) -> Path:
        """What `up` was given, with defaults filled in; a restarted namespace starts from it."""
        return self.root / "settings.json"

    @property
    def command_lock(self) -> Path:
        """Held by the `up` or `down` that is at work."""
        return self.root / "command.lock"

    @property
    def keeper_lock(self) -> Path:
        """Held by the keeper on the host that acts; its twin waits for it."""
        return self.root / "keeper.lock"

    @property
    def namespace_lock(self) -> Path:
        """Held by the first process of the namespace."""
        return self.root / "namespace.lock"

    @property
    def keeper_record(self) -> Path:
        return self.root / "keeper.json"

    @property
    def supervisor_record(self) -> Path:
        return self.root / "supervisor.json"

    @property
    def supervisor_socket(self) -> Path:
        """Where rows are handed to the supervisor."""
        return self.root / "supervisor.sock"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def aws(self) -> Path:
        return self.root / "aws"

    def of(self, region: Region) -> RegionPaths:
        """The files of one region."""
        return RegionPaths(region.folder(self.root))


@dataclass(frozen=True)
class RegionPaths:
    """The files of one region's cluster, below its own `root`."""

    root: Path

    @property
    def nodes_record(self) -> Path:
        return self.root / "nodes.json"

    @property
    def kubeconfig(self) -> Path:
        return self.root / "kubeconfig"

    @property
    def kubeconfig_inside(self) -> Path:
        return self.root / "kubeconfig.inside"

    @property
    def pki(self) -> Path:
        return self.root / "pki"

    @property
    def etcd(self) -> Path:
        return self.root / "etcd"

    @property
    def nodes(self) -> Path:
        return self.root / "nodes"

    @property
    def kubernetes(self) -> Path:
        """Files that are rendered for the control plane at each start."""
        return self.root / "kubernetes"


def state_folder() -> Path:
    """`$TANDEM_STATE`, else `.tandem` in the checkout."""
    given = os.environ.get("TANDEM_STATE")
    if given:
        return Path(given).absolute()
    return Path(__file__).resolve().parents[2] / ".tandem"


def host_paths() -> LocalPaths:
    """The local cloud's files as the host sees them. Raises `Unusable` where they cannot be kept."""
    return LocalPaths(usable(state_folder() / "local", "TANDEM_STATE"))


def inside_paths() -> LocalPaths:
    """The local cloud's files as processes inside the namespace see them."""
    return LocalPaths(INSIDE)
