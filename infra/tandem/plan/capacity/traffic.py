"""What is asked of a deployment: traffic and latency objectives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tandem.errors import Fault, PlanError
from tandem.plan.lengths import Lengths
from tandem.plan.vectors import Array

QUANTILES = 64
"""Points of the length distribution in E[T] and E[T^2]."""
KEYS = ("requests_per_second", "input_tokens", "output_tokens", "prefix_share")


@dataclass(frozen=True)
class Traffic:
    """Requests as they arrive (Poisson)."""

    requests_per_second: float
    prompts: Lengths
    output_tokens: float
    """Mean."""
    prefix_share: float = 0.0
    """Of a prompt's tokens, found in a cache."""

    @cached_property
    def computed(self) -> Array:
        """Tokens that prompts leave to compute, at evenly spaced quantiles."""
        shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
        tokens = np.array([self.prompts.quantile(float(share)) for share in shares])
        return np.maximum(tokens * (1 - self.prefix_share), 1.0)

    def computed_at(self, percentile: float) -> float:
        """Tokens that a prompt at the percentile leaves to compute."""
        return max(self.prompts.quantile(percentile) * (1 - self.prefix_share), 1.0)


@dataclass(frozen=True)
class Objectives:
    """Latency, in milliseconds."""

    ttft_ms: float
    """At the percentile below."""
    tpot_ms: float
    """Mean over a request's tokens."""
    percentile: float = 0.99


def read_traffic(value: object, where: str) -> Traffic:
    """Traffic as a file describes it. `input_tokens` is a number or {mu, sigma, low, high} of a log-normal.

    Raises `PlanError` with every fault.
    """
    if not isinstance(value, Mapping):
        raise PlanError([Fault(where, type(value).__name__, f"traffic is a mapping of {', '.join(KEYS)}", "Write one")])
    faults = [
        Fault(f"{where}: {key}", str(value[key]), "not a field of traffic", f"Known: {', '.join(KEYS)}")
        for key in value
        if key not in KEYS
    ]
    rate = _positive(value, "requests_per_second", where, faults)
    output = _positive(value, "output_tokens", where, faults)
    prompts = _prompts(value, where, faults)
    share = value.get("prefix_share", 0.0)
    if not _is_number(share) or not 0 <= share < 1:
        faults.append(Fault(f"{where}: prefix_share", str(share), "is a share from 0 to below 1", "Correct it"))
    if faults or prompts is None:
        raise PlanError(faults)
    return Traffic(rate, prompts, output, float(share))


def read_objectives(text: str) -> Objectives:
    """Objectives as `ttft=2000,tpot=50` (milliseconds), with `p=0.95` for another percentile than 0.99."""
    where, values, faults = "--slo", dict[str, object](), list[Fault]()
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        try:
            values[name] = float(number)
        except ValueError:
            values[name] = number
    faults += [
        Fault(where, name, "not an objective", "Write ttft=MS,tpot=MS[,p=0.99]")
        for name in values
        if name not in ("ttft", "tpot", "p")
    ]
    ttft, tpot = (_positive(values, name, where, faults) for name in ("ttft", "tpot"))
    share = values.get("p", 0.99)
    if not _is_number(share) or not 0.5 <= float(str(share)) < 1:
        faults.append(
            Fault(f"{where}: p", str(share), "is a percentile as a share, from 0.5 to below 1", "Write p=0.99")
        )
    if faults:
        raise PlanError(faults)
    return Objectives(ttft, tpot, float(str(share)))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _positive(value: Mapping[str, Any], key: str, where: str, faults: list[Fault]) -> float:
    given = value.get(key)
    if _is_number(given) and given is not None and given > 0:
        return float(given)
    shown = "missing" if given is None else str(given)
    faults.append(Fault(f"{where}: {key}", shown, "must be a number above zero", f"Write {key} as it is measured"))
    return 1.0


def _prompts(value: Mapping[str, Any], where: str, faults: list[Fault]) -> Lengths | None:
    given = value.get("input_tokens")
    if isinstance(given, Mapping):
        found = [_positive(given, key, f"{where}: input_tokens", faults) for key in ("mu", "sigma", "low", "high")]
        if not faults and found[2] >= found[3]:
            rule = "low must be below high"
            faults.append(Fault(f"{where}: input_tokens", f"{found[2]:g}..{found[3]:g}", rule, "Swap them"))
        return None if faults else Lengths.lognormal(*found)
    return Lengths.fixed(_positive(value, "input_tokens", where, faults))
