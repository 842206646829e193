"""The AWS regions of the local cloud: each has a network namespace of its own, with a whole Kubernetes and its load balancers in it.

What every region has (the API server's port, the bridge's name, the Services' range) it has under the same address, since only the
backbone joins them: a bridge in the local cloud's own network, where moto listens and the doors come in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final

from local import limits

NETWORKS: Final = Path("/run/netns")
"""Where `ip netns` keeps network namespaces."""


@dataclass(frozen=True)
class Region:
    """One region. The first one's processes, doors and files carry bare names; those of others say whose they are."""

    name: str
    number: int
    """Place in the settings' list, from 0."""

    @property
    def network(self) -> str:
        """Name of its network namespace."""
        return f"region-{self.name}"

    @property
    def network_file(self) -> Path:
        """Holds that namespace."""
        return NETWORKS / self.network

    @property
    def uplink(self) -> str:
        """Name of the backbone's end of its connection; an interface name has 15 bytes at most."""
        return f"region{self.number}"

    @property
    def address(self) -> IPv4Address:
        """Its own on the backbone."""
        return limits.BACKBONE[limits.FIRST_REGION + self.number]

    def named(self, part: str) -> str:
        """Name of one of its processes or doors."""
        return part if self.number == 0 else f"{part}.{self.name}"

    def folder(self, root: Path) -> Path:
        """Where its files lie below the local cloud's."""
        return root if self.number == 0 else root / "regions" / self.name


def in_order(names: Iterable[str]) -> tuple[Region, ...]:
    """The regions of the settings."""
    return tuple(Region(name, number) for number, name in enumerate(names))
