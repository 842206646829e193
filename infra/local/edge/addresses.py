"""The address on which a load balancer listens, inside its first subnet."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Collection
from ipaddress import IPv4Network
from typing import Protocol

FIRST_HOST = 5
"""AWS keeps the first four addresses of a subnet for itself."""


class Addresses(Protocol):
    """Gives and takes addresses."""

    async def take(self, name: str, cidr: str, taken: Collection[str]) -> str:
        """An address for the load balancer `name`, listening-ready."""

    async def give_back(self, address: str) -> None:
        """The load balancer is gone."""


class BridgeAddresses:
    """Addresses of the subnet, put on the local cloud's bridge. The same load balancer gets the same one again."""

    def __init__(self, bridge: str) -> None:
        self._bridge = bridge

    async def take(self, name: str, cidr: str, taken: Collection[str]) -> str:
        network = IPv4Network(cidr)
        # Lower half only: nodes and pods have the upper one.
        room = network.num_addresses // 2 - FIRST_HOST
        start = zlib.crc32(name.encode()) % room
        for step in range(room):
            address = str(network[FIRST_HOST + (start + step) % room])
            if address not in taken:
                await self._ip("replace", address)
                return address
        raise OSError(f"subnet {cidr}: no address is free for load balancer {name}")

    async def give_back(self, address: str) -> None:
        await self._ip("del", address)

    async def _ip(self, verb: str, address: str) -> None:
        process = await asyncio.create_subprocess_exec(
            "ip", "address", verb, f"{address}/32", "dev", self._bridge, stderr=asyncio.subprocess.PIPE
        )
        _, error = await process.communicate()
        if process.returncode and verb != "del":
            raise OSError(f"ip address {verb} {address} dev {self._bridge}: {error.decode().strip()}")


class LoopbackAddresses:
    """127.0.0.1 for every load balancer: for tests, whose listeners take any free port."""

    async def take(self, name: str, cidr: str, taken: Collection[str]) -> str:
        return "127.0.0.1"

    async def give_back(self, address: str) -> None:
        return None
