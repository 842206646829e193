"""Claim: the simulator runs 20 times as many requests a second as a plain SimPy model of the same system, in bounded memory.

Run: `.venv/bin/pip install simpy`, then `.venv/bin/python benchmarks/plan_simulator.py [REQUESTS]`. The SimPy model has the same
engines, link and step times, one event a decode step, which is how such models are written. Both sides answer the same
requests; their mean TTFT is compared, so that speed is not bought with another system.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Generator
from typing import Any

import numpy as np
import simpy
from tandem.facts.accelerators import accelerators
from tandem.plan.capacity.traffic import Traffic
from tandem.plan.lengths import Lengths
from tandem.plan.performance.engine import Engine
from tandem.plan.performance.formats import FORMATS
from tandem.plan.shape import shape_of
from tandem.plan.simulate.arrivals import Arrival, poisson
from tandem.plan.simulate.decoder import StepTimes
from tandem.plan.simulate.run import System, simulate
from tandem.plan.vectors import array

CLAIM = 20.0
COMPARED = 3_000
ENGINE = Engine(shape_of("meta-llama/Llama-3.1-8B"), accelerators()["H100"], 1, FORMATS["fp8"])
SYSTEM = System(ENGINE, 4, ENGINE, 4, 400.0)
LENGTHS = Lengths.lognormal(7, 1, 32, 16_000)
WORKLOADS = {
    "answers of 200 tokens": Traffic(40, LENGTHS, 200),
    "answers of 1,024 tokens": Traffic(20, LENGTHS, 1_024),
}
"""The second has the answers of the Prefill-as-a-Service case study. A SimPy model pays for each step, so it decides the figure."""


def plain(arrivals: list[Arrival]) -> float:
    """Mean TTFT by SimPy."""
    world = simpy.Environment()
    prefill, link = simpy.Resource(world, SYSTEM.prefill_engines), simpy.Resource(world, 1)
    times = StepTimes.of(ENGINE)
    waiting: list[list[list[int]]] = [[] for _ in range(SYSTEM.decode_engines)]
    running: list[list[list[int]]] = [[] for _ in range(SYSTEM.decode_engines)]
    idle = [world.event() for _ in range(SYSTEM.decode_engines)]
    first = []

    def request(one: Arrival) -> Generator[Any, Any, None]:
        begin = world.now
        with prefill.request() as turn:
            yield turn
            yield world.timeout(float(ENGINE.prefill_seconds(array(one.prompt))[0]))
        with link.request() as turn:
            yield turn
            yield world.timeout(ENGINE.shape.kv_bytes(one.prompt) * 8 / (SYSTEM.link_gbps * 1e9))
        first.append(world.now - begin)
        index = min(range(SYSTEM.decode_engines), key=lambda i: len(waiting[i]) + len(running[i]))
        waiting[index].append([one.prompt, one.output])
        if not idle[index].triggered:
            idle[index].succeed()

    def decode(index: int) -> Generator[Any, Any, None]:
        while True:
            running[index] += waiting[index]
            waiting[index].clear()
            if not running[index]:
                idle[index] = world.event()
                yield idle[index]
                continue
            held = sum(one[0] for one in running[index])
            yield world.timeout(times.base[len(running[index])] + times.slope * held)
            for one in running[index]:
                one[0] += 1
                one[1] -= 1
            running[index] = [one for one in running[index] if one[1] > 0]

    def source() -> Generator[Any, Any, None]:
        for one in arrivals:
            yield world.timeout(max(one.at - world.now, 0))
            world.process(request(one))

    for index in range(SYSTEM.decode_engines):
        world.process(decode(index))
    world.process(source())
    world.run()
    return float(np.mean(first))


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    worst = float("inf")
    for name, traffic in WORKLOADS.items():
        few = list(poisson(traffic, COMPARED, 1))
        begin = time.perf_counter()
        theirs = plain(few)
        slow = COMPARED / (time.perf_counter() - begin)
        ours = float(simulate(SYSTEM, few).ttft.mean())
        begin = time.perf_counter()
        found = simulate(SYSTEM, poisson(traffic, count, 1))
        fast = count / (time.perf_counter() - begin)
        worst = min(worst, fast / slow)
        print(f"{name}: {fast:,.0f} requests/s against {slow:,.0f} of SimPy: {fast / slow:.1f}x, claim {CLAIM:g}x")
        print(f"  mean TTFT {ours * 1e3:.2f} ms against {theirs * 1e3:.2f} ms; {found.finished:,} answered")
        if abs(ours / theirs - 1) > 0.02:
            return 1
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB at most")
    return 0 if worst >= CLAIM else 1


if __name__ == "__main__":
    sys.exit(main())
