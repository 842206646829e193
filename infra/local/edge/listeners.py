"""Keeps one socket open for each listener that moto knows, and none for those it does not."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from local.edge.addresses import Addresses
from local.edge.certificates import EdgeAuthority
from local.edge.model import Listener, LoadBalancer, Snapshot
from local.edge.proxy import Proxy

HEADER_LIMIT = 16 * 1024
"""Bytes of one header line, as the real one's."""


@dataclass
class _Open:
    listener: Listener
    server: web.Server
    runner: web.ServerRunner
    site: web.TCPSite
    address: str
    port: int


class Listeners:
    """Open sockets by listener ARN."""

    def __init__(self, proxy: Proxy, addresses: Addresses, authority: EdgeAuthority, *, any_port: bool = False) -> None:
        self._proxy = proxy
        self._addresses = addresses
        self._authority = authority
        self._any_port = any_port
        self._open: dict[str, _Open] = {}
        self.address_of: dict[str, str] = {}
        """Load balancer ARN -> address."""

    def port_of(self, listener_arn: str) -> int | None:
        """The port that is really listened on; None where the listener is not open."""
        found = self._open.get(listener_arn)
        return found.port if found else None

    async def follow(self, snapshot: Snapshot) -> None:
        """Opens and closes. A listener whose port or certificate stayed keeps its socket, and so its streams."""
        wanted = {
            listener.arn: (balancer, listener)
            for balancer in snapshot.load_balancers.values()
            for listener in balancer.listeners
        }
        for arn, opened in list(self._open.items()):
            new = wanted.get(arn)
            if new is None or _socket(new[1]) != _socket(opened.listener):
                await self._close(arn)
        for arn, (balancer, listener) in wanted.items():
            if arn in self._open:
                self._open[arn].listener = listener
            else:
                await self._listen(balancer, listener)
        for arn in set(self.address_of) - set(snapshot.load_balancers):
            await self._addresses.give_back(self.address_of.pop(arn))

    async def close(self) -> None:
        """Closes all."""
        for arn in list(self._open):
            await self._close(arn)

    async def _listen(self, balancer: LoadBalancer, listener: Listener) -> None:
        address = self.address_of.get(balancer.arn)
        if address is None:
            address = await self._addresses.take(balancer.name, balancer.subnet_cidr, self.address_of.values())
            self.address_of[balancer.arn] = address
        context: ssl.SSLContext | None = None
        if listener.tls:
            context = await asyncio.to_thread(self._authority.context, listener.domains, address)
        server = web.Server(
            partial(self._proxy.handle, balancer.arn, listener.arn),
            max_field_size=HEADER_LIMIT,
            access_log=None,
            handler_cancellation=True,
        )
        runner = web.ServerRunner(server, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        port = 0 if self._any_port else listener.port
        site = web.TCPSite(runner, address, port, ssl_context=context, reuse_address=True)
        await site.start()
        bound = runner.addresses[0][1]
        self._open[listener.arn] = _Open(listener, server, runner, site, address, bound)

    async def _close(self, arn: str) -> None:
        await self._open.pop(arn).runner.cleanup()


def _socket(listener: Listener) -> tuple[int, bool, tuple[str, ...]]:
    return listener.port, listener.tls, listener.domains
