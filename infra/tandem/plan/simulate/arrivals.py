"""Requests as they arrive, open loop: Poisson, bursty, or a trace in a published format. Seeded: the same seed, the same requests."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np

from tandem.errors import Fault, PlanError
from tandem.plan.capacity.traffic import Traffic

BLOCK = 8192
"""Requests drawn at once; memory does not grow with the run."""


@dataclass(frozen=True)
class Arrival:
    """One request."""

    at: float
    """Seconds from the run's begin."""
    prompt: int
    output: int


def poisson(traffic: Traffic, requests: int, seed: int, burstiness: float = 1.0) -> Iterator[Arrival]:
    """Gamma-distributed gaps; `burstiness` is their coefficient of variation, 1 being Poisson (BurstGPT, arXiv 2401.17644).

    Outputs are geometric around the traffic's mean: an answer ends at each token with the same chance.
    """
    random = np.random.default_rng(seed)
    shape = 1 / burstiness**2
    scale = 1 / (traffic.requests_per_second * shape)
    at, left = 0.0, requests
    while left:
        count = min(left, BLOCK)
        gaps = random.gamma(shape, scale, count)
        prompts = random.choice(traffic.prompts.array, count)
        outputs = random.geometric(1 / max(traffic.output_tokens, 1.0), count)
        for gap, prompt, output in zip(gaps.tolist(), prompts.tolist(), outputs.tolist(), strict=True):
            at += gap
            yield Arrival(at, max(1, round(prompt)), max(1, output))
        left -= count


def read_trace(text: str, where: str) -> list[Arrival]:
    """A trace: Azure's CSV (TIMESTAMP, ContextTokens, GeneratedTokens) or Mooncake's JSON lines (timestamp in ms, *_length).

    Raises `PlanError` naming the first line that is no number, negative, or earlier than the one before.
    """
    lines = text.splitlines()
    if not lines:
        raise PlanError([Fault(where, "empty", "a trace has a line for each request", "Give a trace")])
    found = list(_mooncake(lines, where) if lines[0].lstrip().startswith("{") else _azure(text, where))
    for number, (before, after) in enumerate(pairwise(found), 2):
        if after.at < before.at:
            rule = f"requests must be in order of arrival; the one before came at {before.at:g} s"
            raise PlanError([Fault(f"{where}: request {number}", f"{after.at:g} s", rule, "Sort the trace by time")])
    first = found[0].at if found else 0.0
    return [Arrival(one.at - first, one.prompt, one.output) for one in found]


def _mooncake(lines: list[str], where: str) -> Iterator[Arrival]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield _arrival(float(row["timestamp"]) / 1e3, row["input_length"], row["output_length"])
        except (ValueError, KeyError, TypeError) as error:
            rule = "a line has timestamp (ms), input_length and output_length, none negative"
            raise PlanError([Fault(f"{where}:{number}", line[:60], rule, "Correct or remove the line")]) from error


def _azure(text: str, where: str) -> Iterator[Arrival]:
    begin: datetime | None = None
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), 2):
        try:
            time = datetime.fromisoformat(str(row["TIMESTAMP"])[:26])
            begin = begin or time
            yield _arrival((time - begin).total_seconds(), row["ContextTokens"], row["GeneratedTokens"])
        except (ValueError, KeyError, TypeError) as error:
            rule = "a line has TIMESTAMP, ContextTokens and GeneratedTokens, none negative"
            raise PlanError([Fault(f"{where}:{number}", str(row)[:60], rule, "Correct or remove the line")]) from error


def _arrival(at: float, prompt: Any, output: Any) -> Arrival:
    if not math.isfinite(at) or int(prompt) < 0 or int(output) < 0:
        raise ValueError("negative or not finite")
    return Arrival(at, max(int(prompt), 1), max(int(output), 1))
