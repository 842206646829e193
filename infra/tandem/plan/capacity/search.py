"""The cheapest single pool and the cheapest prefill/decode split, and which of the two to deploy.

    split = prefill option x decode option; both hold the same KV format, and KV travels inside one zone
    EFA joins p4 with p4 only (facts: efa); where two types cannot speak EFA, KV would go by TCP, so the pair is left out

The difficulty is to say why: what binds, who came second, and at which rate the answer turns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tandem.facts import efa
from tandem.plan.capacity.options import Option, options
from tandem.plan.capacity.pools import BATCHES, PrefillTimes, Sized, decode_pool, prefill_pool, single_pool
from tandem.plan.capacity.traffic import Objectives, Traffic
from tandem.plan.cost.serving import Bill, Pool, bill
from tandem.plan.shape import Shape

BREAK_EVEN = tuple(2.0**power for power in range(-6, 11))
"""Multiples of the rate at which the choice is looked at again."""


@dataclass(frozen=True)
class Deployment:
    """A way to serve."""

    prefill: Sized
    decode: Sized
    """The same as `prefill` where one pool does both."""
    bill: Bill
    usd_per_million_output: float
    usd_per_million_input: float

    @property
    def apart(self) -> bool:
        """Whether prefill and decode are two pools."""
        return self.prefill is not self.decode

    @property
    def ttft_ms(self) -> float:
        """At the objectives' percentile."""
        return self.prefill.ttft_ms

    @property
    def label(self) -> str:
        """What runs, in one line."""
        if not self.apart:
            return f"{self.prefill.nodes} x {self.prefill.option.label}"
        parts = (self.prefill, self.decode)
        return " + ".join(f"{part.nodes} x {part.option.label}" for part in parts)


@dataclass(frozen=True)
class Answer:
    """What to deploy, and why."""

    best: Deployment | None
    single: Deployment | None
    split: Deployment | None
    runners_up: tuple[Deployment, ...]
    front: tuple[Deployment, ...]
    """No other is both cheaper and faster to the first token."""
    candidates: int
    unpriced: tuple[str, ...]
    shortfalls: tuple[str, ...]
    """Where nothing fits: which objective, and by how much the nearest misses it."""
    turns_at: float | None
    """Requests a second at which the other kind of deployment becomes cheaper; None: at none that was looked at."""

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        if self.best is None:
            return "nothing here meets the objectives: " + "; ".join(self.shortfalls)
        if self.single is None:
            return "disaggregate: no single pool meets the objectives"
        if self.split is None:
            return "do not disaggregate: no split meets the objectives"
        one, two = self.single.bill.usd_per_hour, self.split.bill.usd_per_hour
        word = "disaggregate" if self.best.apart else "do not disaggregate"
        saved = abs(one - two) / max(one, two)
        return f"{word}: {saved:.0%} cheaper than the other way (${min(one, two):.2f} against ${max(one, two):.2f} per hour)"


def search(
    shape: Shape,
    traffic: Traffic,
    objectives: Objectives,
    allowed: Collection[str] | None = None,
    formats: Collection[str] | None = None,
) -> Answer:
    """The best of all allowed instance types, weight formats, engine sizes and batches. None allows all."""
    found, unpriced = options(shape, allowed, formats)
    answer = _answer(found, unpriced, traffic, objectives)
    if answer.single is None and answer.split is None:
        return answer
    return replace(answer, turns_at=_turn(found, traffic, objectives, answer))


def _answer(found: Sequence[Option], unpriced: Sequence[str], traffic: Traffic, objectives: Objectives) -> Answer:
    timed = [(option, PrefillTimes.of(option, traffic, objectives.percentile)) for option in found]
    prefill = [prefill_pool(option, times, traffic, objectives) for option, times in timed]
    decode = [decode_pool(option, traffic, objectives) for option in found]
    together = [single_pool(option, times, traffic, objectives) for option, times in timed]
    singles = sorted(
        (_deployment(one, one, traffic) for one in together if isinstance(one, Sized)),
        key=_order,
    )
    first = [one for one in prefill if isinstance(one, Sized)]
    second = [one for one in decode if isinstance(one, Sized)]
    splits = sorted(_cheapest_pairs(first, second, traffic), key=_order)
    everyone = sorted([*singles, *splits], key=_order)
    return Answer(
        best=everyone[0] if everyone else None,
        single=singles[0] if singles else None,
        split=splits[0] if splits else None,
        runners_up=tuple(everyone[1:4]),
        front=_front(everyone),
        candidates=len(first) * len(second) + len(found) * len(BATCHES) * 2,
        unpriced=tuple(unpriced),
        shortfalls=() if everyone else _shortfalls(prefill, decode, objectives, len(found)),
        turns_at=None,
    )


def _cheapest_pairs(
    first: Sequence[Sized], second: Sequence[Sized], traffic: Traffic, most: int = 8
) -> list[Deployment]:
    """The cheapest pairs that can share KV, found over the whole product at once."""
    if not first or not second:
        return []
    money = np.add.outer([one.usd_per_hour for one in first], [two.usd_per_hour for two in second])
    types = sorted({one.option.instance.type for one in (*first, *second)})
    joined = np.array([[a == b or efa.compatible(a, b) for b in types] for a in types])
    index = {name: number for number, name in enumerate(types)}
    rows = [index[one.option.instance.type] for one in first]
    columns = [index[two.option.instance.type] for two in second]
    money = np.where(joined[np.ix_(rows, columns)], money, np.inf)
    order = np.argsort(money, axis=None, kind="stable")[:most]
    pairs = [divmod(int(place), len(second)) for place in order if np.isfinite(money.flat[place])]
    return [_deployment(first[one], second[two], traffic) for one, two in pairs]


def _deployment(prefill: Sized, decode: Sized, traffic: Traffic) -> Deployment:
    pools = [Pool("prefill", prefill.option.instance.type, prefill.nodes)]
    if decode is not prefill:
        pools.append(Pool("decode", decode.option.instance.type, decode.nodes))
    else:
        pools = [Pool("pool", prefill.option.instance.type, prefill.nodes)]
    money = bill(pools)
    return Deployment(
        prefill,
        decode,
        money,
        money.usd_per_million(traffic.requests_per_second * traffic.output_tokens),
        money.usd_per_million(traffic.requests_per_second * traffic.prompts.mean),
    )


def _order(one: Deployment) -> tuple[float, float]:
    """Cheapest first, of equals the one that answers sooner."""
    return one.bill.usd_per_hour, one.ttft_ms


def _front(everyone: Sequence[Deployment]) -> tuple[Deployment, ...]:
    """Of deployments in order of money, those that no cheaper one answers as fast as."""
    front: list[Deployment] = []
    for one in everyone:
        if not front or one.ttft_ms < front[-1].ttft_ms * 0.98:
            front.append(one)
    return tuple(front)


def _shortfalls(
    prefill: Sequence[Sized | float], decode: Sequence[Sized | float], objectives: Objectives, tried: int
) -> tuple[str, ...]:
    if not tried:
        return ("no allowed instance type holds the model on one node: allow larger ones, or a smaller format",)
    said = []
    for name, unit, target, values in (
        ("TTFT", "ms", objectives.ttft_ms, prefill),
        ("TPOT", "ms", objectives.tpot_ms, decode),
    ):
        if any(isinstance(value, Sized) for value in values):
            continue
        least = min(float(value) for value in values if not isinstance(value, Sized))
        said.append(
            f"{name} of {target:g} {unit} is {least / target:.1f}x below the least that any type reaches ({least:.0f} {unit})"
        )
    return tuple(said) or ("prefill and decode each fit, but no two types that can share KV do",)


def _turn(found: Sequence[Option], traffic: Traffic, objectives: Objectives, answer: Answer) -> float | None:
    """The nearest rate, in powers of two, at which the other kind is cheaper."""
    if answer.best is None:
        return None
    for times in sorted(BREAK_EVEN, key=lambda value: abs(np.log(value))):
        changed = replace(traffic, requests_per_second=traffic.requests_per_second * times)
        other = _answer(_shortlist(found, answer), (), changed, objectives).best
        if other is not None and other.apart != answer.best.apart:
            return changed.requests_per_second
    return None


def _shortlist(found: Sequence[Option], answer: Answer) -> list[Option]:
    """The options of the deployments that came out on top: enough to see the choice turn."""
    top = [one for one in (answer.best, answer.single, answer.split, *answer.runners_up) if one is not None]
    kept = {part.option.label for one in top for part in (one.prefill, one.decode)}
    return [option for option in found if option.label in kept]
