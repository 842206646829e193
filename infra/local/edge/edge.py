"""The edge as a whole: reads moto, keeps listeners and health checks in step with it, drains what was deregistered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp
from aiohttp import web
from botocore.exceptions import BotoCoreError, ClientError

from local.edge import control
from local.edge.addresses import Addresses
from local.edge.certificates import EdgeAuthority
from local.edge.health import HealthChecks
from local.edge.listeners import Listeners
from local.edge.model import Snapshot, Target
from local.edge.proxy import Proxy
from local.edge.source import Source

POLL_SECONDS = 0.5
"""moto has no events; a change of weights is seen within this time. The real one takes a few seconds."""


class Edge:
    """Start it inside a running event loop with `async with`."""

    def __init__(
        self,
        source: Source,
        addresses: Addresses,
        authority: EdgeAuthority,
        say: Callable[[str], None],
        *,
        any_port: bool = False,
    ) -> None:
        self._source = source
        self._addresses = addresses
        self._authority = authority
        self._say = say
        self._any_port = any_port
        self._said: str | None = None
        self._following = asyncio.Lock()

    async def __aenter__(self) -> Edge:
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=30)
        self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False)
        self.health = HealthChecks(self._session)
        self.proxy = Proxy(self._session, self.health)
        self.listeners = Listeners(self.proxy, self._addresses, self._authority, any_port=self._any_port)
        self._poll = asyncio.create_task(self._poll_forever())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._poll.cancel()
        await self.listeners.close()
        await self.health.close()
        await self._session.close()

    def control(self) -> web.Application:
        """The control endpoint's application."""
        return control.application(self.proxy, self.listeners, self.health)

    async def refresh(self) -> None:
        """Reads moto once and follows it. One at a time: whoever returns has seen the snapshot in force."""
        async with self._following:
            await self._follow()

    async def _follow(self) -> None:
        snapshot = await asyncio.to_thread(self._source.read)
        if snapshot == self.proxy.snapshot:
            return
        before = self.proxy.snapshot
        self.proxy.snapshot = snapshot
        self._drain(before, snapshot)
        self.health.follow(snapshot.target_groups)
        await self.listeners.follow(snapshot)

    def _drain(self, before: Snapshot, after: Snapshot) -> None:
        draining = self.proxy.draining
        for arn, group in before.target_groups.items():
            now = after.target_groups[arn].targets if arn in after.target_groups else frozenset()
            for target in group.targets - now:
                key = (arn, target)
                if self.proxy.counters.in_flight[key] and key not in draining:
                    draining.add(key)
                    asyncio.get_running_loop().call_later(group.deregistration_delay, self._over, key)
        for arn, group in after.target_groups.items():
            for target in group.targets:
                draining.discard((arn, target))

    def _over(self, key: tuple[str, Target]) -> None:
        if key in self.proxy.draining:
            self.proxy.draining.discard(key)
            self.proxy.cut(key)

    async def _poll_forever(self) -> None:
        while True:
            try:
                await self.refresh()
                self._said = None
            except (BotoCoreError, ClientError, OSError, KeyError) as error:
                # moto is away or in the middle of a restart: what is known stays in force.
                if str(error) != self._said:
                    self._said = str(error)
                    self._say(f"not followed, will be tried again: {error}")
            await asyncio.sleep(POLL_SECONDS)
