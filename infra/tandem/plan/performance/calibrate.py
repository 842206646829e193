"""Fits a calibration to measured rows, and says how well it does on rows that the fit did not see.

    cost = mean of (ln predicted - ln measured)^2 of TPOT, plus TTFT's at a fifth, plus a pull towards the defaults
    error bar = mean relative error over five folds, each predicted by a fit to the other four

Descent by coordinates with shrinking steps: few parameters, no derivative, the same result every time. The pull
keeps what the rows do not say near what is known otherwise: without it, overhead and bandwidth trade places freely.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tandem.plan.performance.calibration import DEFAULT, FITTED, Calibration, ErrorBar
from tandem.plan.performance.closed_loop import Prediction, predict
from tandem.plan.performance.predict import BenchRow, calibrated

BOUNDS = {
    "memory_share": (0.6, 0.95),
    "product_share": (0.4, 1.1),
    "layer_us": (5.0, 120.0),
    "all_reduce_us": (2.0, 60.0),
    "request_us": (0.0, 100.0),
    "admission_steps": (0.5, 40.0),
}
START = {"request_us": 5.0}
"""Where the search begins when the default is zero, which no factor moves."""
PULL = 0.002
TTFT_WEIGHT = 0.2
FOLDS = 5
STEPS = (1.5, 1.2, 1.1, 1.05, 1.02)


@dataclass(frozen=True)
class Measured:
    """One measured row."""

    row: BenchRow
    ttft_ms: float
    tpot_ms: float


@dataclass(frozen=True)
class Errors:
    """Mean relative errors, as shares."""

    ttft: float
    tpot: float
    throughput: float
    bias: float
    """Of TPOT: negative where predictions are too low."""
    rows: int


def fit(rows: Sequence[Measured], gpu: str, engine: str) -> Calibration:
    """The calibration of these rows, without an error bar of its own."""
    values = {name: START.get(name, float(getattr(DEFAULT, name))) for name in FITTED}
    lowest = _cost(rows, values)
    for step in STEPS:
        improved = True
        while improved:
            improved = False
            for name in FITTED:
                for factor in (step, 1 / step):
                    low, high = BOUNDS[name]
                    tried = {**values, name: min(max(values[name] * factor, low), high)}
                    cost = _cost(rows, tried)
                    if cost < lowest - 1e-7:
                        values, lowest, improved = tried, cost, True
    kinds = {row.row.engine.shape.architecture for row in rows}
    architecture = kinds.pop() if len(kinds) == 1 else ""
    fitted = {name: round(value, 4) for name, value in values.items()}
    return replace(DEFAULT.fitted(fitted), gpu=gpu, engine=engine, rows=len(rows), architecture=architecture)


def held_out(rows: Sequence[Measured], gpu: str, engine: str) -> list[Prediction | None]:
    """Each row as predicted by a fit to the folds that it is not in."""
    folds = min(FOLDS, len(rows))
    parts = [
        fit([row for index, row in enumerate(rows) if index % folds != fold], gpu, engine) for fold in range(folds)
    ]
    return [_predict(row, parts[index % folds]) for index, row in enumerate(rows)]


def calibrate(rows: Sequence[Measured], gpu: str, engine: str) -> Calibration:
    """The calibration of these rows, with the error bar of held-out folds."""
    found = errors(list(zip(rows, held_out(rows, gpu, engine), strict=True)))
    bar = ErrorBar(round(found.ttft, 3), round(found.tpot, 3), round(found.throughput, 3))
    return replace(fit(rows, gpu, engine), error=bar)


def evaluate(rows: Sequence[Measured], calibration: Calibration) -> Errors:
    """How far the calibration's predictions are from the rows."""
    return errors([(row, _predict(row, calibration)) for row in rows])


def errors(pairs: Sequence[tuple[Measured, Prediction | None]]) -> Errors:
    """Mean errors over rows and their predictions; a row that does not fit counts as wholly wrong."""
    count = max(len(pairs), 1)
    ttft = tpot = out = bias = 0.0
    for row, found in pairs:
        load = row.row.load
        measured = load.clients * load.output_tokens / (row.ttft_ms + row.tpot_ms * (load.output_tokens - 1)) * 1e3
        if found is None:
            ttft, tpot, out = ttft + 1, tpot + 1, out + 1
            continue
        bias += found.tpot_ms / row.tpot_ms - 1
        ttft += abs(found.ttft_ms / row.ttft_ms - 1)
        tpot += abs(found.tpot_ms / row.tpot_ms - 1)
        out += abs(found.out_tok_s_gpu * row.row.engine.gpus / measured - 1)
    return Errors(ttft / count, tpot / count, out / count, bias / count, len(pairs))


def _predict(row: Measured, calibration: Calibration) -> Prediction | None:
    return predict(calibrated(row.row, calibration), row.row.load)


def _cost(rows: Sequence[Measured], values: dict[str, float]) -> float:
    calibration = DEFAULT.fitted(values)
    total = 0.0
    for row in rows:
        found = _predict(row, calibration)
        if found is None:
            total += 1.0
            continue
        total += min(abs(math.log(found.tpot_ms / row.tpot_ms)), 0.5) ** 2
        total += TTFT_WEIGHT * min(abs(math.log(found.ttft_ms / row.ttft_ms)), 0.5) ** 2
    pull = sum(
        math.log(value / START.get(name, float(getattr(DEFAULT, name)))) ** 2
        for name, value in values.items()
        if value > 0
    )
    return total / max(len(rows), 1) + PULL * pull
