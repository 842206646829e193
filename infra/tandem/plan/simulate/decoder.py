"""One engine that decodes by continuous batching, advanced from event to event and not from step to step.

    n steps of batch b from context C take   n base(b) + slope (n C + b n (n - 1) / 2)      each step adds b tokens of context

Between two events (a request joins, ends, or the KV pool is full) b is constant, so all steps between are one sum. Requests join
at a step's end. When the next step would overflow the pool, the newest request is retracted: it gives its KV back and starts again
from its prompt and what it has already answered (SGLang's rule).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from tandem.plan.performance.engine import Engine
from tandem.plan.vectors import array


@dataclass(frozen=True)
class StepTimes:
    """An engine's step as a table: base(b) seconds, slope seconds a context token, tokens of KV that fit."""

    base: tuple[float, ...]
    slope: float
    pool: int

    @classmethod
    def of(cls, engine: Engine, most: int = 1024) -> StepTimes:
        """The same model that plans, over batches 1 to `most`."""
        batches = np.arange(1, most + 1, dtype=np.float64)
        base = engine.step_seconds(batches, array(0.0))
        slope = float(engine.step_seconds(array(1.0), array(1e5))[0] - base[0]) / 1e5
        each = engine.kv_held_bytes(1) - engine.kv_held_bytes(0)
        return cls((0.0, *base.tolist()), slope, int(engine.kv_pool_bytes / max(each, 1.0)))


@dataclass
class Decoder:
    """Mutable state of one engine."""

    times: StepTimes
    clock: float = 0.0
    """Time of the last step's end."""
    steps: int = 0
    context: int = 0
    """Tokens of KV held."""
    running: list[tuple[int, int, int]] = field(default_factory=list)
    """Heap of (step at which it ends, request, tokens held on joining)."""
    waiting: list[tuple[int, int, int]] = field(default_factory=list)
    """(request, tokens held, tokens to come), first come first."""
    version: int = 0
    """Counts plans; an event of an older plan is void."""

    def advance(self, until: float) -> None:
        """Runs whole steps until the first that ends at or after `until`; with nothing to run, only time passes."""
        batch = len(self.running)
        if not batch:
            self.clock = max(self.clock, until)
            return
        if until <= self.clock:
            return
        count = self._steps_in(until - self.clock, batch)
        count = min(count, self.running[0][0] - self.steps)
        self._run(count, batch)

    def finished(self) -> list[int]:
        """Takes out the requests that have ended."""
        done = []
        while self.running and self.running[0][0] <= self.steps:
            _, request, held = heappop(self.running)
            done.append(request)
            self.context -= held + self._answered(request)
        return done

    def admit(self) -> None:
        """Lets waiting requests join while their KV and one more step of all fits; one alone always may."""
        joined = 0
        for request, held, output in self.waiting:
            most = len(self.times.base) - 1
            fits = self.context + held + len(self.running) + 1 <= self.times.pool and len(self.running) < most
            if not fits and self.running:
                break
            heappush(self.running, (self.steps + output, request, held))
            self._began[request] = self.steps
            self.context += held
            joined += 1
        del self.waiting[:joined]

    def retract(self) -> tuple[int, int] | None:
        """The newest request and what it has answered, taken out, when the next step would overflow; None when it fits."""
        if len(self.running) < 2 or self.context + len(self.running) <= self.times.pool:
            return None
        newest = max(self.running, key=lambda one: (self._began[one[1]], one[1]))
        return self._take(newest)

    def next_event(self) -> float | None:
        """When a request ends or the pool is full; None with nothing to run."""
        batch = len(self.running)
        if not batch:
            return None
        count = self.running[0][0] - self.steps
        if batch > 1:
            count = min(count, max((self.times.pool - self.context) // batch, 1))
        return self.clock + self._seconds(count, batch)

    def drop_all(self) -> list[tuple[int, int]]:
        """Everything here, with what it has answered: the engine has failed."""
        lost = [self._take(one) for one in list(self.running)]
        lost += [(request, 0) for request, _, _ in self.waiting]
        self.waiting.clear()
        return lost

    _began: dict[int, int] = field(default_factory=dict)

    def _take(self, one: tuple[int, int, int]) -> tuple[int, int]:
        self.running.remove(one)
        self.running.sort()
        answered = self._answered(one[1])
        self.context -= one[2] + answered
        return one[1], answered

    def _answered(self, request: int) -> int:
        return self.steps - self._began.pop(request)

    def _seconds(self, count: int, batch: int) -> float:
        each = self.times.base[batch] + self.times.slope * self.context
        return count * each + self.times.slope * batch * count * (count - 1) / 2

    def _steps_in(self, seconds: float, batch: int) -> int:
        curve = self.times.slope * batch / 2
        each = self.times.base[batch] + self.times.slope * self.context - curve
        if curve <= 0:
            return max(1, math.ceil(seconds / each - 1e-9))
        root = (-each + math.sqrt(each * each + 4 * curve * seconds)) / (2 * curve)
        return max(1, math.ceil(root - 1e-9))

    def _run(self, count: int, batch: int) -> None:
        self.clock += self._seconds(count, batch)
        self.context += count * batch
        self.steps += count
