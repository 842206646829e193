"""An answer of the search as text and as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tandem.plan.capacity.pools import Sized
from tandem.plan.capacity.search import Answer, Deployment
from tandem.plan.capacity.traffic import Objectives, Traffic

HINTS = {
    "prompt tokens a second": "a faster GPU per dollar, a larger prefix share, or fewer requests",
    "TTFT objective": "a looser TTFT objective, or more GPUs for one engine",
    "TPOT objective": "a looser TPOT objective, or a smaller weight format",
    "KV link": "types with EFA: without it, one engine's KV goes by one TCP flow",
    "KV memory": "8-bit KV, GPUs with more memory, or more GPUs for one engine",
}
"""What binds -> what to try next."""


def as_dict(answer: Answer) -> dict[str, Any]:
    """For `--json`. Money in US dollars, times in milliseconds."""
    return {
        "verdict": answer.verdict,
        "best": _deployment(answer.best),
        "single_pool": _deployment(answer.single),
        "split": _deployment(answer.split),
        "runners_up": [_deployment(one) for one in answer.runners_up],
        "pareto_front": [_deployment(one) for one in answer.front],
        "turns_at_requests_per_second": answer.turns_at,
        "shortfalls": list(answer.shortfalls),
        "candidates": answer.candidates,
        "without_on_demand_price": list(answer.unpriced),
    }


def as_text(answer: Answer, traffic: Traffic, objectives: Objectives) -> str:
    """A table that needs no manual."""
    return "\n".join(_lines(answer, traffic, objectives))


def _lines(answer: Answer, traffic: Traffic, objectives: Objectives) -> Iterator[str]:
    yield (
        f"{traffic.requests_per_second:g} requests/s, prompts of {traffic.prompts.mean:,.0f} tokens on average, answers of "
        f"{traffic.output_tokens:,.0f}; TTFT <= {objectives.ttft_ms:g} ms at P{objectives.percentile * 100:g}, "
        f"TPOT <= {objectives.tpot_ms:g} ms"
    )
    yield f"Answer: {answer.verdict}."
    if answer.best is not None:
        yield ""
        yield f"{'':<12} {'role':<8} {'nodes x type, engine, weights':<44} {'TTFT':>8} {'TPOT':>8} {'$/h':>9} {'$/M out':>8}  what binds"
        shown = [("best", answer.best)]
        shown += [("single pool", answer.single)] if answer.single and answer.single is not answer.best else []
        shown += [("split", answer.split)] if answer.split and answer.split is not answer.best else []
        rest = [one for one in answer.runners_up if all(one is not other for _, other in shown)]
        shown += [("runner-up", one) for one in rest[:2]]
        for name, one in shown:
            yield from _rows(name, one)
        yield ""
        for part in dict.fromkeys((answer.best.prefill.binds, answer.best.decode.binds)):
            yield f"To spend less: {part} binds - try {HINTS[part]}."
        error = answer.best.decode.option.engine.calibration.error_for(
            answer.best.decode.option.engine.shape.architecture
        )
        yield f"Error bars: TTFT +-{error.ttft:.0%}, TPOT +-{error.tpot:.0%}; {answer.best.decode.option.engine.calibration.label}."
        parts = (answer.best.prefill.option, answer.best.decode.option)
        for label in dict.fromkeys(option.label for option in parts if not option.proved):
            yield f"Not proved: no source names {label} running; try it before you buy, or leave the format out with --weights."
        if answer.turns_at is not None:
            other = "one pool" if answer.best.apart else "a split"
            yield f"At about {answer.turns_at:,.2g} requests/s {other} would be cheaper."
    yield f"{answer.candidates:,} candidates, us-east-1 on-demand prices; nodes include one spare a pool and 20 % headroom."
    if answer.unpriced:
        yield f"Not sold on demand, so left out: {', '.join(answer.unpriced)}."


def _rows(name: str, one: Deployment) -> Iterator[str]:
    roles = (("prefill", one.prefill), ("decode", one.decode)) if one.apart else (("both", one.prefill),)
    for index, (role, part) in enumerate(roles):
        what = f"{part.nodes} x {part.option.label}"
        ttft = f"{part.ttft_ms:,.0f} ms" if part.ttft_ms else ""
        tpot = f"{part.tpot_ms:.1f} ms" if part.tpot_ms else ""
        money = (
            f"{one.bill.usd_per_hour:>9,.2f} {one.usd_per_million_output:>8.2f}" if index == 0 else f"{'':>9} {'':>8}"
        )
        yield f"{name if index == 0 else '':<12} {role:<8} {what:<44} {ttft:>8} {tpot:>8} {money}  {part.binds}"


def _deployment(one: Deployment | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "apart": one.apart,
        "prefill": _sized(one.prefill),
        "decode": _sized(one.decode),
        "ttft_ms": round(one.ttft_ms, 1),
        "tpot_ms": round(one.decode.tpot_ms, 2),
        "usd_per_hour": round(one.bill.usd_per_hour, 4),
        "usd_per_month": round(one.bill.usd_per_month, 2),
        "usd_per_million_output_tokens": round(one.usd_per_million_output, 4),
        "usd_per_million_input_tokens": round(one.usd_per_million_input, 4),
        "parts": [{**vars(part), "usd_per_hour": round(part.usd_per_hour, 4)} for part in one.bill.parts],
    }


def _sized(part: Sized) -> dict[str, Any]:
    engine = part.option.engine
    return {
        "instance_type": part.option.instance.type,
        "nodes": part.nodes,
        "engines": part.engines,
        "tensor_parallel": engine.gpus,
        "weights": engine.weights.name,
        "batch": part.batch,
        "binds": part.binds,
    }
