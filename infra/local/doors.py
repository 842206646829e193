"""Doors: ports on 127.0.0.1 of the host that lead into the local cloud's network.

A listening socket belongs to the network it was made in, whoever holds it. So the host opens the sockets, and `python -m local.doors`,
which runs inside, accepts on them and connects on from there. Callers that come while it is being restarted wait in the backlog.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import errno
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import TandemError

from local import limits
from local.regions import Region, in_order
from local.settings import Doors

_BACKLOG = 512
_ASK_SECONDS = 1.0


class PortTaken(TandemError):
    """A door's port is in use."""

    exit_code = 6


@dataclass(frozen=True)
class Door:
    """One open door."""

    name: str
    port: int
    """On 127.0.0.1 of the host."""
    descriptor: int
    """The listening socket."""


@dataclass(frozen=True)
class DoorMap:
    """All doors, by name: `aws`, `kubernetes`, `edge`."""

    doors: tuple[Door, ...]

    def port(self, name: str) -> int:
        """The host's port of door `name`. Raises KeyError."""
        return {door.name: door.port for door in self.doors}[name]

    @property
    def descriptors(self) -> tuple[int, ...]:
        return tuple(door.descriptor for door in self.doors)

    def as_json(self) -> dict[str, dict[str, int]]:
        return {door.name: {"port": door.port, "descriptor": door.descriptor} for door in self.doors}

    @staticmethod
    def from_json(value: dict[str, dict[str, int]]) -> DoorMap:
        return DoorMap(tuple(Door(name, door["port"], door["descriptor"]) for name, door in value.items()))


def wanted_doors(doors: Doors, regions: tuple[Region, ...]) -> dict[str, int]:
    """Door -> port on the host, 0 for any free one. A further region's doors have the ports after the first one's."""
    ports = {"aws": doors.aws}
    for region in regions:
        for name, port in (("kubernetes", doors.kubernetes), ("edge", doors.edge)):
            ports[region.named(name)] = port + region.number if port else 0
    return ports


def open_doors(wanted: Mapping[str, int]) -> DoorMap:
    """Listen on every door's port; the sockets are inheritable.

    Raises PortTaken for all taken ports at once, and then leaves none open.
    """
    doors: list[Door] = []
    taken: list[str] = []
    for name, port in wanted.items():
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            taken.append(_describe_taken(name, port, error))
            continue
        listener.setblocking(False)
        bound = listener.getsockname()[1]
        os.set_inheritable(listener.fileno(), True)
        doors.append(Door(name, bound, listener.detach()))
    if taken:
        for door in doors:
            os.close(door.descriptor)
        raise PortTaken("\n".join(taken))
    return DoorMap(tuple(doors))


def _describe_taken(name: str, port: int, error: OSError) -> str:
    if error.errno == errno.EACCES:
        return f"doors.{name}: 127.0.0.1:{port} - this user may not listen there. Choose a port from 1024 up as doors.{name}."
    owner = describe_listener(port)
    by = f" by {owner}" if owner else ""
    fix = f"Stop it or set doors.{name} to another port"
    return f"doors.{name}: 127.0.0.1:{port} is taken{by} - a door needs a free port. {fix}."


def describe_listener(port: int, proc: Path = Path("/proc")) -> str | None:
    """Who listens on a TCP port of this network, as `name (process id N)`; None if /proc does not tell."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(proc, port)}
    if not sockets:
        return None
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for descriptor in (folder / "fd").iterdir():
                if str(descriptor.readlink()) in sockets:
                    return f"{(folder / 'comm').read_text().strip()} (process id {folder.name})"
    return None


def _listening_inodes(proc: Path, port: int) -> Iterator[str]:
    for table in ("net/tcp", "net/tcp6"):
        with contextlib.suppress(OSError):
            for line in (proc / table).read_text().splitlines()[1:]:
                fields = line.split()
                if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                    yield fields[9]


class Half(asyncio.Protocol):
    """One direction of a connection through a door: what arrives here is written to the other half."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: Half | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def eof_received(self) -> bool:
        target = self.other.transport if self.other is not None else None
        if target is None or target.is_closing():
            return False
        target.write_eof()
        return True  # the other direction may go on

    def connection_lost(self, error: Exception | None) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()

    # Called by the transport that this half writes to, when its buffer fills and empties.
    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None and not self.other.transport.is_closing():
            self.other.transport.resume_reading()


class Forwarder:
    """Accepts on one door and connects on."""

    def __init__(self, door: Door, target: Any) -> None:
        self._door = door
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        listener = socket.socket(fileno=self._door.descriptor)
        listener.setblocking(False)
        while True:
            try:
                caller, _ = await loop.sock_accept(listener)
            except OSError as error:  # out of descriptors: callers wait until some are free
                print(f"door {self._door.name}: {error}", file=sys.stderr, flush=True)
                await asyncio.sleep(_ASK_SECONDS)
                continue
            task = asyncio.create_task(self._connect(caller))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connect(self, caller: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            address = await self._target()
            if address is None:
                raise ConnectionError("nothing behind this door yet")
            inner, outer = Half(), Half()
            inner.other, outer.other = outer, inner
            await loop.create_connection(lambda: inner, *address)
        except OSError as error:
            # A reset, not an empty answer: the caller sees that nobody served it.
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            caller.close()
            print(f"door {self._door.name}: {error}", file=sys.stderr, flush=True)
            return
        await loop.connect_accepted_socket(lambda: outer, caller)


class Fixed:
    """A target that never moves."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)

    async def __call__(self) -> tuple[str, int] | None:
        return self._address


class FirstPublicListener:
    """Port 443 of the first internet-facing load balancer, as the edge tells."""

    def __init__(self, control: str) -> None:
        self._control = control
        self._asked_at = float("-inf")
        self._address: tuple[str, int] | None = None
        self._asking = asyncio.Lock()

    async def __call__(self) -> tuple[str, int] | None:
        async with self._asking:
            if time.monotonic() - self._asked_at > _ASK_SECONDS:
                self._address = await self._ask()
                self._asked_at = time.monotonic()
        return self._address

    async def _ask(self) -> tuple[str, int] | None:
        host, _, port = self._control.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(f"GET /listeners HTTP/1.0\r\nHost: {self._control}\r\n\r\n".encode())
            answer = await asyncio.wait_for(reader.read(), limits.PROBE_SECONDS)
        finally:
            writer.close()
        return first_public_address(json.loads(answer.partition(b"\r\n\r\n")[2] or b"[]"))


def first_public_address(listeners: list[dict[str, Any]]) -> tuple[str, int] | None:
    """The address of the first listener on port 443 of an internet-facing load balancer, or None."""
    for listener in listeners:
        if listener.get("scheme") == "internet-facing" and listener.get("port") == 443:
            return str(listener["address"]), 443
    return None


async def _serve(doors: DoorMap, regions: tuple[Region, ...]) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    targets: dict[str, Fixed | FirstPublicListener] = {"aws": Fixed(str(limits.AWS_ADDRESS), limits.AWS_PORT)}
    for region in regions:
        targets[region.named("kubernetes")] = Fixed(str(region.address), limits.API_SERVER_PORT)
        targets[region.named("edge")] = FirstPublicListener(f"{region.address}:{limits.EDGE_CONTROL_PORT}")
    forwarders = [asyncio.create_task(Forwarder(door, targets[door.name]).run()) for door in doors.doors]
    await stop.wait()
    for forwarder in forwarders:
        forwarder.cancel()


def main() -> int:
    """Forward until SIGTERM. Returns an exit code."""
    parser = argparse.ArgumentParser(prog="local.doors", description=__doc__)
    parser.add_argument("--doors", required=True, help="JSON: name -> {port, descriptor}")
    parser.add_argument("regions", nargs="+", help="in the order of the settings")
    options = parser.parse_args()
    asyncio.run(_serve(DoorMap.from_json(json.loads(options.doors)), in_order(options.regions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
