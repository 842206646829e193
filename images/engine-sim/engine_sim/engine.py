"""One engine: takes requests, reads prompts, moves KV to or from its other half, writes tokens."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from engine_sim import content, pair, tokenizer
from engine_sim.arguments import Arguments
from engine_sim.faults import Faults
from engine_sim.memory import Pool, Slot
from engine_sim.metrics import Metrics
from engine_sim.profile import Profile
from engine_sim.scheduler import Scheduler
from engine_sim.settings import Settings
from engine_sim.shape import ModelShape
from engine_sim.transfer import Transfer, TransferFailed

ALIKE = ("page_size", "kv_cache_dtype")
"""What the real decode compares, and dies of."""
SCHEDULER_DIED = 1
MEGABYTE = 1e6
POOL_BYTES_MAX = 64 << 30
"""Address space, not memory: pages are only backed while KV lies in them."""


class RequestFailed(Exception):
    """The request cannot be answered. `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Request:
    """One request, whatever API it came by."""

    id: str
    tokens: list[int]
    max_new_tokens: int
    ignore_eos: bool
    stop: tuple[str, ...]
    bootstrap_host: str | None
    bootstrap_port: int | None
    bootstrap_room: int | None
    arrived: float = field(default_factory=time.monotonic)


@dataclass(frozen=True)
class Piece:
    """One token of an answer; the last carries why it ended."""

    token: int
    text: str
    finish: str | None
    """`length`, `stop`, or None while it goes on."""


class Engine:
    """Build inside a running event loop."""

    def __init__(
        self,
        arguments: Arguments,
        settings: Settings,
        shape: ModelShape,
        profile: Profile,
        faults: Faults,
        metrics: Metrics,
    ) -> None:
        self.arguments = arguments
        self.settings = settings
        self.faults = faults
        self.metrics = metrics
        self.draining = False
        running = arguments.max_running_requests or profile.running_requests
        self.max_total_tokens = arguments.max_total_tokens or profile.kv_pool_tokens
        self.max_running_requests = running
        self.scheduler = Scheduler(profile, settings.speed, arguments.chunked_prefill_size, running, faults, metrics)
        self.block = content.block_bytes(
            shape.bytes_per_token(arguments.kv_cache_dtype, arguments.dtype), 1, settings.kv_scale
        )
        """Bytes of one token's KV as they are really moved."""
        self.tokens_used = 0
        self.in_flight = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self._transfer: Transfer | None = None
        self._side: pair.SideChannel | None = None
        self._pool: Pool | None = None
        self._session: aiohttp.ClientSession | None = None
        self._known: dict[tuple[str, int], pair.Known] = {}
        self._rooms: dict[tuple[str, int], set[int]] = {}
        """Rooms in flight by prefill: they fail when it is lost."""
        self._heartbeats: dict[tuple[str, int], asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Opens what the role needs. Raises `TransferUnavailable`."""
        if self.arguments.mode == "null":
            return
        self._transfer = Transfer(self.settings.host_ip, self.faults)
        self._side = pair.SideChannel(self.settings.host_ip)
        self._session = aiohttp.ClientSession()
        if self.arguments.mode == "decode":
            self._pool = Pool(min(self.max_total_tokens * self.block, POOL_BYTES_MAX))
            self._transfer.register(self._pool.region)

    def bootstrap_info(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the prefill's bootstrap server tells. A `mismatch` fault tells it wrong."""
        assert self._side is not None
        host, _, port = self._side.endpoint.rpartition(":")
        info: dict[str, Any] = {
            "attn_tp_size": self.arguments.tp_size,
            "attn_cp_size": 1,
            "dp_size": 1,
            "pp_size": 1,
            "page_size": self.arguments.page_size,
            "kv_cache_dtype": self.arguments.kv_cache_dtype,
            "follow_bootstrap_room": True,
            "tandem_pair_revision": self.settings.pair_revision,
        }
        return info, {"rank_ip": host, "rank_port": int(port)}

    async def answer(self, request: Request) -> AsyncIterator[Piece]:
        """The tokens of the answer as they are written. Raises `RequestFailed`."""
        self.in_flight += 1
        self.idle.clear()
        self.metrics.add("num_requests")
        self.metrics.add("prompt_tokens", len(request.tokens))
        try:
            match self.arguments.mode:
                case "prefill":
                    chain = await self._prefill(request)
                    yield self._first(chain, "length")
                case "decode":
                    async for piece in self._decode(request):
                        yield piece
                case _:
                    await self.scheduler.prefill(len(request.tokens))
                    chain = content.states(request.tokens, self.settings.kv_salt)
                    async for piece in self._write(request, chain):
                        yield piece
        except asyncio.CancelledError:
            self.metrics.add("num_aborted_requests")
            raise
        finally:
            self.in_flight -= 1
            if not self.in_flight:
                self.idle.set()
            self.metrics.observe("e2e_request_latency_seconds", time.monotonic() - request.arrived)

    def _first(self, chain: list[bytes], finish: str | None) -> Piece:
        token = next(content.Answer(chain).tokens())
        return Piece(token, tokenizer.decode([token]), finish)

    async def _prefill(self, request: Request) -> list[bytes]:
        """Reads the prompt and pushes its KV to wherever decode said."""
        assert self._side is not None
        assert self._transfer is not None
        room = _room(request)
        try:
            await self.scheduler.prefill(len(request.tokens))
            chain = content.states(request.tokens, self.settings.kv_salt)
            if request.bootstrap_host == FAKE_HOST:
                return chain
            try:
                waited = time.monotonic()
                place = await asyncio.wait_for(self._side.expect(room), self.settings.bootstrap_timeout)
            except TimeoutError as error:
                self.metrics.add("num_bootstrap_failed_reqs")
                raise RequestFailed(
                    500, f"KVTransferError(bootstrap_room={room}): timed out in KVPoll.Bootstrapping"
                ) from error
            self.metrics.observe("kv_transfer_bootstrap_ms", (time.monotonic() - waited) * 1000)
            await self._push(room, place, chain)
            return chain
        finally:
            self._side.forget(room)

    async def _push(self, room: int, place: dict[str, Any], chain: list[bytes]) -> None:
        assert self._side is not None
        assert self._transfer is not None
        if place["block"] != self.block:
            failure = f"decode books {place['block']} bytes a token, prefill has {self.block}"
            await self._side.send(place["endpoint"], {"room": room, "failed": failure})
            raise RequestFailed(500, f"KVTransferError(bootstrap_room={room}): {failure}")
        try:
            pushed = await self._transfer.push(place["session"], place["address"], chain, self.block)
        except TransferFailed as error:
            self.metrics.add("num_transfer_failed_reqs")
            await self._side.send(place["endpoint"], {"room": room, "failed": str(error)})
            raise RequestFailed(500, f"KVTransferError(bootstrap_room={room}): {error}") from error
        self.metrics.observe("kv_transfer_total_mb", pushed.bytes / MEGABYTE)
        self.metrics.observe("kv_transfer_latency_ms", pushed.seconds * 1000)
        if pushed.seconds > 0:
            self.metrics.observe("kv_transfer_speed_gb_s", pushed.bytes / pushed.seconds / 1e9)
        done = {"room": room, "tokens": len(chain), "bytes": pushed.bytes, "checksum": pushed.checksum}
        await self._side.send(place["endpoint"], done)

    async def _decode(self, request: Request) -> AsyncIterator[Piece]:
        """Has the KV written into our memory, checks it, and goes on from it."""
        room = _room(request)
        if request.bootstrap_host == FAKE_HOST:
            chain = content.states(request.tokens, self.settings.kv_salt)
        else:
            chain = await self._receive(request, room)
        async for piece in self._write(request, chain):
            yield piece

    async def _receive(self, request: Request, room: int) -> list[bytes]:
        assert self._side is not None
        assert self._pool is not None
        assert self._transfer is not None
        rank = await self._meet(request)
        started = time.monotonic()
        slot = self._book(request)
        self.metrics.observe("kv_transfer_alloc_ms", (time.monotonic() - started) * 1000)
        future = self._side.expect(room)
        rooms = self._rooms.setdefault(_peer(request), set())
        rooms.add(room)
        try:
            place = {
                "room": room,
                "endpoint": self._side.endpoint,
                "session": self._transfer.session,
                "address": self._pool.region.address + slot.offset,
                "block": self.block,
            }
            await self._side.send(f"{rank['rank_ip']}:{rank['rank_port']}", place)
            try:
                done = await asyncio.wait_for(future, self.settings.waiting_timeout)
            except TimeoutError as error:
                self._lost(request)
                raise RequestFailed(
                    500, f"KVTransferError(bootstrap_room={room}): timed out in KVPoll.WaitingForInput"
                ) from error
            if "failed" in done:
                self._lost(request)
                raise RequestFailed(500, f"KVTransferError(bootstrap_room={room}): {done['failed']}")
            return self._take(slot, done, room)
        finally:
            rooms.discard(room)
            self._side.forget(room)
            self._pool.release(slot)

    async def _meet(self, request: Request) -> dict[str, Any]:
        """Learns of a prefill at its first request, and compares, as the real decode does."""
        assert self._session is not None
        key = _peer(request)
        known = self._known.get(key)
        if known is None:
            try:
                known = await pair.look_up(self._session, *key)
            except pair.PeerUnreachable as error:
                self.metrics.add("num_bootstrap_failed_reqs")
                raise RequestFailed(500, str(error)) from error
            self._compare(known[0])
            if key not in self._known:
                self._known[key] = known
                self._heartbeats[key] = asyncio.create_task(self._heartbeat(key, known))
        return known[1]

    async def _heartbeat(self, key: tuple[str, int], known: pair.Known) -> None:
        """Ends when the prefill does not answer any more, or is another process behind the same address."""
        assert self._session is not None
        missed = 0
        while missed < self.settings.heartbeat_failures:
            await asyncio.sleep(self.settings.heartbeat_interval)
            try:
                if await pair.ask_route(self._session, *key) != known:
                    break
                missed = 0
            except pair.PeerUnreachable:
                missed += 1
        self._forget(key)

    def _forget(self, key: tuple[str, int]) -> None:
        """A prefill is lost: its rooms fail, and the next request asks anew."""
        assert self._side is not None
        self._known.pop(key, None)
        heartbeat = self._heartbeats.pop(key, None)
        if heartbeat is not None and heartbeat is not asyncio.current_task():
            heartbeat.cancel()
        for room in self._rooms.pop(key, ()):
            self._side.fail(room, "Lost connection with prefill instance")

    def _lost(self, request: Request) -> None:
        """The transfer failed: what was known of the prefill may be of one that is gone."""
        self.metrics.add("num_transfer_failed_reqs")
        self._forget(_peer(request))

    def _compare(self, theirs: dict[str, Any]) -> None:
        theirs = dict(theirs)
        wrong = self.faults.strike("mismatch")
        if wrong is not None:
            field_name = "tandem_pair_revision" if wrong["field"] == "pair_revision" else str(wrong["field"])
            theirs[field_name] = wrong.get("value", "mismatch")
        ours: dict[str, Any] = {"page_size": self.arguments.page_size, "kv_cache_dtype": self.arguments.kv_cache_dtype}
        for name in ALIKE:
            if theirs.get(name) != ours[name]:
                words = name.replace("_", " ").capitalize()
                message = (
                    f"{words} mismatch: prefill server has {name}={theirs.get(name)}, but decode server has {name}={ours[name]}. "
                    "Both must be started with the same value."
                )
                if self.settings.dies_on_mismatch:
                    print(
                        f"RuntimeError: {message} The scheduler dies of it, and the engine with it.",
                        file=sys.stderr,
                        flush=True,
                    )
                    os._exit(SCHEDULER_DIED)
                raise RequestFailed(500, message)
        revision = theirs.get("tandem_pair_revision", "")
        if self.settings.pair_revision and revision != self.settings.pair_revision:
            raise RequestFailed(
                409,
                f"prefill is of pair revision {revision or '(none)'}, decode of {self.settings.pair_revision}: a pair is never mixed",
            )

    def _book(self, request: Request) -> Slot:
        assert self._pool is not None
        slot = self._pool.take(len(request.tokens) * self.block)
        if slot is None or self.tokens_used + len(request.tokens) > self.max_total_tokens:
            if slot is not None:
                self._pool.release(slot)
            raise RequestFailed(503, "no KV memory is free for this request; try again later")
        return slot

    def _take(self, slot: Slot, done: dict[str, Any], room: int) -> list[bytes]:
        """Checks what arrived and reads it."""
        assert self._pool is not None
        view = self._pool.region.view(slot.offset, int(done["bytes"]))
        try:
            if content.checksum(view) != done["checksum"]:
                self.metrics.add("num_transfer_failed_reqs")
                raise RequestFailed(500, f"KVTransferError(bootstrap_room={room}): KV checksum differs")
            return content.read_states(view, int(done["tokens"]), self.block)
        finally:
            view.release()

    async def _write(self, request: Request, chain: list[bytes]) -> AsyncIterator[Piece]:
        """The decode loop of one request: the first token is prefill's, the others take a step each."""
        source = content.Answer(chain)
        limit = request.max_new_tokens if request.ignore_eos else min(request.max_new_tokens, source.length)
        writer = self.scheduler.join(len(chain))
        self.tokens_used += len(chain)
        held, text = len(chain), ""
        last = time.monotonic()
        try:
            for number, token in enumerate(source.tokens(), 1):
                if number > 1:
                    await writer.steps.get()
                now = time.monotonic()
                name = "time_to_first_token_seconds" if number == 1 else "inter_token_latency_seconds"
                self.metrics.observe(name, now - (request.arrived if number == 1 else last))
                last = now
                self.metrics.add("generation_tokens")
                self.tokens_used += 1
                held += 1
                piece = tokenizer.decode([token])
                text += piece
                finish = "stop" if any(mark in text for mark in request.stop) else None
                if finish is None and number >= limit:
                    finish = "length" if request.max_new_tokens <= number else "stop"
                yield Piece(token, piece, finish)
                if finish is not None:
                    return
        finally:
            self.scheduler.leave(writer)
            self.tokens_used -= held

    def report(self) -> None:
        """Brings the gauges up to date."""
        set_gauge = self.metrics.set
        usage = self.tokens_used / self.max_total_tokens
        set_gauge("num_running_reqs", self.scheduler.running)
        set_gauge("num_queue_reqs", self.scheduler.queued)
        set_gauge("token_usage", usage)
        set_gauge("full_token_usage", usage)
        set_gauge("kv_used_tokens", self.tokens_used)
        set_gauge("kv_available_tokens", self.max_total_tokens - self.tokens_used)
        set_gauge("max_total_num_tokens", self.max_total_tokens)

    async def close(self) -> None:
        """Ends everything."""
        self.scheduler.close()
        for heartbeat in self._heartbeats.values():
            heartbeat.cancel()
        if self._side is not None:
            self._side.close()
        if self._transfer is not None:
            self._transfer.close()
        if self._session is not None:
            await self._session.close()


FAKE_HOST = "2.2.2.2"
"""The host that the real engine's own warm-up and health requests name: no other half is asked."""


def _peer(request: Request) -> tuple[str, int]:
    """Address of the bootstrap server that the gateway named."""
    return str(request.bootstrap_host), int(request.bootstrap_port or 0)


def _room(request: Request) -> int:
    if request.bootstrap_room is None:
        raise RequestFailed(
            400, "Disaggregated request received without bootstrap room id. It must come by the gateway, which sets it."
        )
    return request.bootstrap_room
