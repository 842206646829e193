"""When the simulated GPU reads prompts and writes tokens: prompts one batch after the other, tokens a step at a time for all."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from dataclasses import dataclass, field

from engine_sim.faults import Faults
from engine_sim.metrics import Metrics
from engine_sim.profile import Profile

OUT_OF_MEMORY_EXIT = 1


@dataclass
class Prompt:
    """A prompt that waits for its forward pass."""

    tokens: int
    done: asyncio.Future[None]
    since: float = field(default_factory=time.monotonic)


@dataclass
class Writer:
    """A request in the decode batch."""

    held: int
    """Tokens of KV that it holds."""
    steps: asyncio.Queue[None] = field(default_factory=asyncio.Queue)
    """One item a step."""


class Scheduler:
    """The two loops of one engine. Ends with its tasks."""

    def __init__(
        self, profile: Profile, speed: float, chunk: int, running_max: int, faults: Faults, metrics: Metrics
    ) -> None:
        self._profile = profile
        self._speed = speed
        self._chunk = chunk
        self._running_max = running_max
        self._faults = faults
        self._metrics = metrics
        self._prompts: deque[Prompt] = deque()
        self._writers: list[Writer] = []
        self._waiting: deque[Writer] = deque()
        self._work = asyncio.Event()
        self._tasks = [asyncio.create_task(self._read_forever()), asyncio.create_task(self._write_forever())]

    @property
    def queued(self) -> int:
        """Requests that wait for either loop."""
        return len(self._prompts) + len(self._waiting)

    @property
    def running(self) -> int:
        """Requests in the decode batch."""
        return len(self._writers)

    @property
    def waiting_tokens(self) -> int:
        """Prompt tokens that nobody has read yet."""
        return sum(prompt.tokens for prompt in self._prompts)

    async def prefill(self, tokens: int) -> None:
        """Returns when the prompt's forward pass is over."""
        prompt = Prompt(tokens, asyncio.get_running_loop().create_future())
        self._prompts.append(prompt)
        self._wake()
        try:
            await prompt.done
        finally:
            if prompt in self._prompts:
                self._prompts.remove(prompt)

    def join(self, held: int) -> Writer:
        """Enters the decode batch, or its queue. `leave` ends it."""
        writer = Writer(held)
        self._waiting.append(writer)
        self._wake()
        return writer

    def leave(self, writer: Writer) -> None:
        """The request is over."""
        if writer in self._writers:
            self._writers.remove(writer)
        elif writer in self._waiting:
            self._waiting.remove(writer)

    async def alive(self) -> None:
        """Returns when the scheduler is not hanging: what /health asks."""
        await self._faults.wait_until_off("hang")

    def _wake(self) -> None:
        self._work.set()
        self._work = asyncio.Event()

    async def _read_forever(self) -> None:
        while True:
            while not self._prompts:
                await self._work.wait()
            batch, tokens = [], 0
            while self._prompts and (not batch or tokens + self._prompts[0].tokens <= self._chunk):
                batch.append(self._prompts.popleft())
                tokens += batch[-1].tokens
                self._metrics.observe("queue_time_seconds", time.monotonic() - batch[-1].since)
            await self._pass(self._profile.prefill_seconds((prompt.tokens, 0) for prompt in batch))
            for prompt in batch:
                if not prompt.done.done():
                    prompt.done.set_result(None)

    async def _write_forever(self) -> None:
        while True:
            while self._waiting and len(self._writers) < self._running_max:
                self._writers.append(self._waiting.popleft())
            if not self._writers:
                await self._work.wait()
                continue
            held = sum(writer.held for writer in self._writers)
            await self._pass(self._profile.decode_seconds(len(self._writers), held))
            for writer in self._writers:
                writer.held += 1
                writer.steps.put_nowait(None)

    async def _pass(self, simulated_seconds: float) -> None:
        """One forward pass, with what faults do to it."""
        await self._faults.wait_until_off("hang")
        if self._faults.strike("oom") is not None:
            print("CUDA out of memory (simulated fault oom)", file=sys.stderr, flush=True)
            os._exit(OUT_OF_MEMORY_EXIT)
        slow = self._faults.active("slow")
        factor = float(slow["factor"]) if slow else 1.0
        await asyncio.sleep(simulated_seconds * factor / self._speed)

    def close(self) -> None:
        """Ends both loops."""
        for task in self._tasks:
            task.cancel()
