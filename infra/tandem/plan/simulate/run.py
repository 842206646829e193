"""A prefill pool, a shared link and a decode pool under a stream of requests.

    prefill: each engine one prompt after another; the gateway gives a prompt to the engine that is free first
    link:    one after another at the link's rate
    decode:  continuous batching (see decoder); the gateway gives a request to the engine with the fewest

Every request and every token is accounted for: what arrives is finished, and counted again when a failure or a full pool sends it back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace

import numpy as np

from tandem.plan.performance.engine import Engine
from tandem.plan.simulate.arrivals import Arrival
from tandem.plan.simulate.decoder import Decoder, StepTimes
from tandem.plan.vectors import Array

TABLE = 256
"""Prompt lengths at which prefill is computed; between them it is interpolated."""


@dataclass(frozen=True)
class System:
    """What is simulated."""

    prefill: Engine
    prefill_engines: int
    decode: Engine
    decode_engines: int
    link_gbps: float
    """Of the link that all KV shares."""


@dataclass(frozen=True)
class Failure:
    """A decode engine ends at a time and is back after a delay (a node's start)."""

    at: float
    engine: int
    back_after: float


@dataclass(frozen=True)
class Run:
    """What happened. Times in seconds, one entry a request in order of arrival."""

    ttft: Array
    tpot: Array
    finished: int
    tokens: int
    retracted: int
    failed: int
    seconds: float

    def attainment(self, ttft_seconds: float, tpot_seconds: float) -> float:
        """Share of requests that met both objectives."""
        return float(((self.ttft <= ttft_seconds) & (self.tpot <= tpot_seconds)).mean()) if len(self.ttft) else 1.0


_KV, _STEP, _FAIL, _BACK = 0, 1, 2, 3


def simulate(system: System, arrivals: Iterable[Arrival], failures: Sequence[Failure] = ()) -> Run:
    """Runs until every request is answered. The same input gives the same result."""
    return _Simulation(system, failures).run(arrivals)


class _Simulation:
    def __init__(self, system: System, failures: Sequence[Failure]) -> None:
        grid = np.geomspace(1, 2**20, TABLE)
        self._grid, self._seconds = grid.tolist(), system.prefill.prefill_seconds(grid).tolist()
        self._free = [0.0] * system.prefill_engines
        heapify(self._free)
        self._link_free = 0.0
        engine = system.prefill
        per_token = engine.shape.kv_bytes_per_token(engine.kv_value_bytes)
        self._wire = (
            8 * per_token / (system.link_gbps * 1e9),
            8 * engine.shape.state_bytes() / (system.link_gbps * 1e9),
        )
        times = StepTimes.of(system.decode)
        self._decoders = [Decoder(times) for _ in range(system.decode_engines)]
        self._up = list(range(system.decode_engines))
        self._failures = failures
        self._events: list[tuple[float, int, int, int, int]] = []
        self._order = 0
        self._requests: dict[int, list[float]] = {}
        self._ttft: list[float] = []
        self._tpot: list[float] = []
        self._held_back: list[int] = []
        self._finished = self._tokens = self._retracted = self._failed = 0
        self._now = 0.0

    def run(self, arrivals: Iterable[Arrival]) -> Run:
        for index, failure in enumerate(self._failures):
            self._push(failure.at, _FAIL, index, 0)
        for number, arrival in enumerate(arrivals):
            while self._events and self._events[0][0] <= arrival.at:
                self._handle()
            # prompt, tokens to come, arrival, first token, tokens of the whole answer
            self._requests[number] = [arrival.prompt, arrival.output, arrival.at, -1.0, arrival.output]
            self._ttft.append(0.0)
            self._tpot.append(0.0)
            self._prefill(number, arrival.at)
        while self._events:
            self._handle()
        return Run(
            np.array(self._ttft),
            np.array(self._tpot),
            self._finished,
            self._tokens,
            self._retracted,
            self._failed,
            self._now,
        )

    def _push(self, at: float, kind: int, subject: int, version: int) -> None:
        self._order += 1
        heappush(self._events, (at, self._order, kind, subject, version))

    def _prefill(self, request: int, at: float) -> None:
        prompt = self._requests[request][0]
        after = min(max(bisect_right(self._grid, prompt), 1), TABLE - 1)
        low, first = self._grid[after - 1], self._seconds[after - 1]
        slope = (self._seconds[after] - first) / (self._grid[after] - low)
        end = max(at, self._free[0]) + first + slope * (prompt - low)
        heapreplace(self._free, end)
        self._push(end, _KV, request, 0)

    def _handle(self) -> None:
        at, _, kind, subject, version = heappop(self._events)
        self._now = max(self._now, at) if kind in (_KV, _STEP) else self._now
        if kind == _KV:
            self._transfer(subject, at, version)
        elif kind == _STEP:
            decoder = self._decoders[subject]
            if version == decoder.version:
                decoder.advance(at)
                self._settle(subject)
        elif kind == _FAIL:
            self._fail(self._failures[subject], at)
        else:
            self._up = sorted({*self._up, subject})
            self._decoders[subject].clock = at
            waiting, self._held_back = self._held_back, []
            for request in waiting:
                self._join(request, at)

    def _transfer(self, request: int, at: float, arrived: int) -> None:
        if arrived:
            self._join(request, at)
            return
        per_token, fixed = self._wire
        self._link_free = max(self._link_free, at) + per_token * self._requests[request][0] + fixed
        self._push(self._link_free, _KV, request, 1)

    def _join(self, request: int, at: float) -> None:
        if not self._up:
            self._held_back.append(request)
            return
        row = self._requests[request]
        if row[3] < 0:
            row[3] = at
            self._ttft[request] = at - row[2]
        index = min(self._up, key=self._load)
        decoder = self._decoders[index]
        decoder.waiting.append((request, int(row[0]), int(row[1])))
        decoder.advance(at)
        self._settle(index)

    def _settle(self, index: int) -> None:
        decoder = self._decoders[index]
        for request in decoder.finished():
            row = self._requests.pop(request)
            self._finished += 1
            self._tokens += int(row[4])
            self._tpot[request] = (decoder.clock - row[3]) / max(row[4], 1)
            self._now = max(self._now, decoder.clock)
        while (back := decoder.retract()) is not None:
            self._retracted += 1
            self._again(*back, decoder.clock)
        decoder.admit()
        decoder.version += 1
        following = decoder.next_event()
        if following is not None:
            self._push(following, _STEP, index, decoder.version)

    def _load(self, index: int) -> int:
        decoder = self._decoders[index]
        return len(decoder.running) + len(decoder.waiting)

    def _again(self, request: int, answered: int, at: float) -> None:
        row = self._requests[request]
        row[0], row[1] = row[0] + answered, max(row[1] - answered, 1)
        self._prefill(request, at)

    def _fail(self, failure: Failure, at: float) -> None:
        decoder = self._decoders[failure.engine]
        self._up = [index for index in self._up if index != failure.engine]
        decoder.version += 1
        for request, answered in decoder.drop_all():
            self._failed += 1
            self._again(request, answered, at)
        decoder.clock = at
        self._push(at + failure.back_after, _BACK, failure.engine, 0)
