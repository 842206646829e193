"""How many engines a pool needs, for every option and batch at once.

    prefill: n engines share the prompts; one is M/G/1:  wait = l E[T^2] / (2 (1 - rho)),  l = rate / n  (Pollaczek-Khinchine)
             TTFT at percentile q = max(T(l_q) + wait, T(mean) - wait / rho x ln((1 - q) / rho)) + transfer
    both     n x rate of one engine's link >= KV bits a second
    decode:  step(batch) <= TPOT and batch <= requests held;  n = rate x output x step / batch
    pool:    step + (batch - 1) x prefill / output <= TPOT;   n = rate x (prefill + output x TPOT) / batch
    each n   x (1 + buffer), then nodes = ceil(n / engines per node) + spare

The exponential tail of the wait is exact for M/M/1 and cautious for less varied prompts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tandem.plan.capacity.options import Option
from tandem.plan.capacity.traffic import Objectives, Traffic
from tandem.plan.vectors import Array, array

BUFFER = 0.2
"""Capacity beyond the mean rate: the guides' 20 %."""
SPARE_NODES = 1
"""A pool outlives the loss of a node (N+1)."""
BATCHES = np.unique(np.round(np.geomspace(1, 1024, 160)))
"""Batch sizes that are tried."""
MOST_ENGINES = 2**20
"""Search bound: an answer that needs more is none."""


@dataclass(frozen=True)
class Sized:
    """One option, sized. Infinite money: it cannot meet the objectives."""

    option: Option
    batch: int
    engines: int
    nodes: int
    usd_per_hour: float
    ttft_ms: float
    tpot_ms: float
    binds: str


@dataclass(frozen=True)
class PrefillTimes:
    """An option's prefill over the traffic's prompts."""

    mean: float
    square: float
    at_percentile: float

    @classmethod
    def of(cls, option: Option, traffic: Traffic, percentile: float) -> PrefillTimes:
        """Seconds and seconds^2; the cached part of a prompt costs nothing."""
        tokens = np.append(traffic.computed, traffic.computed_at(percentile))
        seconds = option.engine.prefill_seconds(tokens)
        times, last = seconds[:-1], seconds[-1]
        return cls(float(times.mean()), float((times**2).mean()), float(last))

    def ttft_at(self, rate: float, percentile: float) -> float:
        """`ttft` for one rate."""
        busy = rate * self.mean
        if busy >= 1:
            return math.inf
        wait = rate * self.square / (2 * (1 - busy))
        tail = -wait / busy * math.log((1 - percentile) / busy) if busy > 1 - percentile else 0.0
        return max(self.at_percentile + wait, self.mean + tail)

    def ttft(self, rate: Array, percentile: float) -> Array:
        """Seconds at the percentile, for each rate at one engine; infinite at or beyond saturation."""
        busy = rate * self.mean
        with np.errstate(divide="ignore", invalid="ignore"):
            wait = np.where(busy < 1, rate * self.square / (2 * (1 - busy)), np.inf)
            tail = np.where(busy > 1 - percentile, -wait / busy * np.log((1 - percentile) / busy), 0.0)
        result: Array = np.maximum(self.at_percentile + wait, self.mean + tail)
        return result


def _requests_held(option: Option, traffic: Traffic) -> int:
    """Requests whose KV fits with the buffer left: lengths vary, and a full pool retracts."""
    tokens = traffic.prompts.mean + traffic.output_tokens
    held = option.engine.requests_held(tokens)
    return max(int(held / (1 + BUFFER)), min(held, 1))


def _link_engines(option: Option, traffic: Traffic) -> int:
    """Engines whose links together carry the traffic's KV; 0 where one carries far more."""
    kv = option.engine.shape.kv_bytes(traffic.prompts.mean, option.engine.kv_value_bytes)
    needed = traffic.requests_per_second * (1 + BUFFER) * kv * 8 / (option.kv_gbps * 1e9)
    return math.ceil(needed) if needed > 1 else 0


def nodes_for(engines: float, option: Option) -> int:
    """Whole nodes for so many engines, spare included."""
    return int(np.ceil(engines / option.engines_per_node)) + SPARE_NODES


def prefill_pool(option: Option, times: PrefillTimes, traffic: Traffic, objectives: Objectives) -> Sized | float:
    """The fewest prefill engines that meet TTFT with the KV's transfer in it; else the least TTFT in ms that it can reach."""
    kv = option.engine.shape.kv_bytes(traffic.prompts.quantile(objectives.percentile), option.engine.kv_value_bytes)
    wire = kv * 8 / (option.kv_gbps * 1e9)
    budget = objectives.ttft_ms / 1e3 - wire
    if times.at_percentile > budget:
        return (times.at_percentile + wire) * 1e3
    rate = traffic.requests_per_second * (1 + BUFFER)
    link = _link_engines(option, traffic)
    low, high = max(1, link, int(np.ceil(rate * times.mean))), MOST_ENGINES
    least = low
    while low < high:
        middle = (low + high) // 2
        if times.ttft_at(rate / middle, objectives.percentile) <= budget:
            high = middle
        else:
            low = middle + 1
    if low >= MOST_ENGINES:
        return float("inf")
    ttft = times.ttft_at(rate / low, objectives.percentile) + wire
    nodes = nodes_for(low, option)
    binds = "prompt tokens a second" if low <= least + 1 else "TTFT objective"
    binds = "KV link" if low == link else binds
    return Sized(option, 1, low, nodes, nodes * option.usd_per_hour, ttft * 1e3, 0.0, binds)


def decode_pool(option: Option, traffic: Traffic, objectives: Objectives) -> Sized | float:
    """The cheapest batch and engines that meet TPOT; else the least TPOT in ms that it can reach."""
    context = traffic.prompts.mean + traffic.output_tokens / 2
    held = _requests_held(option, traffic)
    steps = option.engine.step_seconds(BATCHES, array(context))
    fits = (held >= BATCHES) & (steps * 1e3 <= objectives.tpot_ms)
    if not fits.any():
        return float(steps[0] * 1e3) if held else float("inf")
    link = _link_engines(option, traffic)
    engines = np.ceil(traffic.requests_per_second * (1 + BUFFER) * traffic.output_tokens * steps / BATCHES)
    engines = np.maximum(engines, link)
    best = int(np.argmin(np.where(fits, engines, np.inf)))
    following = min(best + 1, len(BATCHES) - 1)
    binds = "KV memory" if BATCHES[following] > held else "TPOT objective"
    binds = "KV link" if engines[best] == link else binds
    nodes = nodes_for(float(engines[best]), option)
    return Sized(
        option,
        int(BATCHES[best]),
        int(engines[best]),
        nodes,
        nodes * option.usd_per_hour,
        0.0,
        float(steps[best] * 1e3),
        binds,
    )


def single_pool(
    option: Option, times: PrefillTimes, traffic: Traffic, objectives: Objectives
) -> Sized | tuple[float, float]:
    """The cheapest batch and engines that prefill and decode together; else the least (TTFT, TPOT) in ms."""
    output = traffic.output_tokens
    held = _requests_held(option, traffic)
    steps = option.engine.step_seconds(BATCHES, array(traffic.prompts.mean + output / 2))
    tpot = steps + (BATCHES - 1) * times.mean / output
    cycle = times.mean + output * tpot
    rate = BATCHES / cycle
    ttft = times.ttft(rate, objectives.percentile) + tpot
    fits = (held >= BATCHES) & (tpot * 1e3 <= objectives.tpot_ms) & (ttft * 1e3 <= objectives.ttft_ms)
    if not fits.any():
        return (float(ttft.min() * 1e3), float(tpot.min() * 1e3)) if held else (float("inf"), float("inf"))
    engines = np.ceil(traffic.requests_per_second * (1 + BUFFER) / rate)
    best = int(np.argmin(np.where(fits, engines, np.inf)))
    following = min(best + 1, len(BATCHES) - 1)
    binds = "KV memory" if BATCHES[following] > held else "TPOT objective"
    if tpot[following] * 1e3 <= objectives.tpot_ms and BATCHES[following] <= held:
        binds = "TTFT objective"
    nodes = nodes_for(float(engines[best]), option)
    return Sized(
        option,
        int(BATCHES[best]),
        int(engines[best]),
        nodes,
        nodes * option.usd_per_hour,
        float(ttft[best] * 1e3),
        float(tpot[best] * 1e3),
        binds,
    )
