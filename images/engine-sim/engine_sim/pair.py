"""How a prefill and a decode meet: the prefill's bootstrap server, and a ZMQ side channel on each end.

decode  -- GET /route with every rank -1 -->  bootstrap: what must be alike, and where the ranks listen
decode  -- room, session, address, block -->  prefill's side channel: where the KV goes
prefill -- the KV itself, by Mooncake    -->  decode's memory
prefill -- room, bytes, checksum         -->  decode's side channel: it is there, or it failed
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import zmq
import zmq.asyncio
from aiohttp import web

LOOKUPS = 15
"""Tries of the real decode before it gives a bootstrap server up."""
LOOKUP_SECONDS = 5.0
ALL = "-1"


class PeerUnreachable(Exception):
    """The other half cannot be asked. The message is for a person."""


class SideChannel:
    """One PULL socket on a kernel-chosen port, and PUSH sockets to peers. Every message is one JSON object with a `room`."""

    def __init__(self, host: str) -> None:
        self._context = zmq.asyncio.Context()
        self._pull = self._context.socket(zmq.PULL)
        port = self._pull.bind_to_random_port(f"tcp://{host}", *_port_range())
        self.endpoint = f"{host}:{port}"
        self._push: dict[str, zmq.asyncio.Socket] = {}
        self._rooms: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._task = asyncio.create_task(self._read_forever())

    def expect(self, room: int) -> asyncio.Future[dict[str, Any]]:
        """The message of a room, whether it came already or is to come."""
        return self._rooms.setdefault(room, asyncio.get_running_loop().create_future())

    def fail(self, room: int, reason: str) -> None:
        """Tells whoever waits for the room that nothing will come."""
        future = self._rooms.get(room)
        if future is not None and not future.done():
            future.set_result({"room": room, "failed": reason})

    def forget(self, room: int) -> None:
        """The room is over."""
        future = self._rooms.pop(room, None)
        if future is not None and not future.done():
            future.cancel()

    async def send(self, endpoint: str, message: dict[str, Any]) -> None:
        """Sends to a peer's side channel; the peer may be gone, which nobody is told here."""
        socket = self._push.get(endpoint)
        if socket is None:
            socket = self._push[endpoint] = self._context.socket(zmq.PUSH)
            socket.setsockopt(zmq.LINGER, 0)
            socket.connect(f"tcp://{endpoint}")
        await socket.send(json.dumps(message).encode())

    async def _read_forever(self) -> None:
        while True:
            try:
                message = json.loads(await self._pull.recv())
                future = self.expect(int(message["room"]))
            except (ValueError, KeyError, TypeError):
                continue
            if not future.done():
                future.set_result(message)

    def close(self) -> None:
        """Ends it."""
        self._task.cancel()
        self._context.destroy(linger=0)


def _port_range() -> tuple[int, int]:
    """The kernel's ephemeral range of this network namespace, which pods pin: the real sockets bind there too."""
    try:
        low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()
        return int(low), int(high)
    except (OSError, ValueError):
        return 40000, 49999


def bootstrap_application(info: dict[str, Any], rank: dict[str, Any]) -> web.Application:
    """The bootstrap server: plain HTTP without keys, as the real one. `rank` may be replaced by PUT, as anyone can there."""
    ranks: dict[str, dict[str, Any]] = {"0": rank}
    rooms: dict[str, int] = {}

    async def get_route(request: web.Request) -> web.Response:
        wanted = [
            request.query.get(key, ALL)
            for key in ("prefill_dp_rank", "prefill_cp_rank", "target_tp_rank", "target_pp_rank")
        ]
        if all(value == ALL for value in wanted):
            return web.json_response(info)
        found = ranks.get("0")
        return web.json_response(found) if found else web.Response(status=404, text="Bootstrap info not Found")

    async def put_route(request: web.Request) -> web.Response:
        ranks["0"] = await request.json()
        return web.Response(text="OK")

    async def register_dp_rank(request: web.Request) -> web.Response:
        body = await request.json()
        rooms[str(body["bootstrap_room"])] = int(body["dp_rank"])
        return web.Response(text="OK")

    async def query_dp_ranks(request: web.Request) -> web.Response:
        body = await request.json()
        asked = [str(room) for room in body["bootstrap_rooms"]]
        return web.json_response({room: rooms[room] for room in asked if room in rooms})

    async def well(_: web.Request) -> web.Response:
        return web.Response(text="OK")

    app = web.Application()
    app.add_routes(
        [
            web.get("/route", get_route),
            web.put("/route", put_route),
            web.post("/register_dp_rank", register_dp_rank),
            web.post("/query_dp_ranks", query_dp_ranks),
            web.get("/health", well),
        ]
    )
    return app


Known = tuple[dict[str, Any], dict[str, Any]]
"""(what must be alike, where rank 0 listens) of a prefill."""


async def look_up(session: aiohttp.ClientSession, host: str, port: int) -> Known:
    """Asks a prefill's bootstrap server. Raises `PeerUnreachable` after the real decode's patience."""
    problem: Exception | str = ""
    for attempt in range(LOOKUPS):
        try:
            return await ask_route(session, host, port)
        except PeerUnreachable as error:
            problem = error
            # The real one asks again too: a prefill's restart takes a moment, and tells nobody.
            await asyncio.sleep(min(0.1 * 2**attempt, 1.0))
    raise PeerUnreachable(f"Could not fetch prefill parallel info from bootstrap_addr: {host}:{port} ({problem})")


async def ask_route(session: aiohttp.ClientSession, host: str, port: int) -> Known:
    """Asks once. Raises `PeerUnreachable`."""
    url = f"http://{host}:{port}/route"
    everything = dict.fromkeys(("prefill_dp_rank", "prefill_cp_rank", "target_tp_rank", "target_pp_rank"), ALL)
    timeout = aiohttp.ClientTimeout(total=LOOKUP_SECONDS)
    try:
        async with session.get(url, params=everything, timeout=timeout) as answer:
            answer.raise_for_status()
            info = await answer.json()
        async with session.get(url, params={**everything, "target_tp_rank": "0"}, timeout=timeout) as answer:
            answer.raise_for_status()
            return info, await answer.json()
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
        raise PeerUnreachable(repr(error)) from error
