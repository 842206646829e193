"""Predicts rows of a bench table: `{"columns": [...], "rows": [...]}`, as published tables are. Measured columns are not read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tandem.errors import Fault, PlanError
from tandem.facts.accelerators import accelerators
from tandem.facts.measured import GPUS
from tandem.plan.performance.calibration import DEFAULT, Calibration, calibration_for
from tandem.plan.performance.closed_loop import Load, Prediction, predict
from tandem.plan.performance.engine import Engine
from tandem.plan.performance.formats import FORMATS, product_tflops
from tandem.plan.shape import shape_of

NEEDED = ("model", "gpu", "precision", "isl", "osl", "concurrency")
"""Columns that a table must have; `backend`, `tp`, `ep` and `kv_dtype` may be absent."""
COUNTS = ("isl", "osl", "tp", "ep", "concurrency")


@dataclass(frozen=True)
class BenchRow:
    """One row, read."""

    engine: Engine
    backend: str
    load: Load


def read_rows(table: Mapping[str, Any], where: str) -> list[BenchRow]:
    """The rows of a table. Raises `PlanError` with every fault."""
    columns, rows = table.get("columns"), table.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, list):
        rule = "a table is a list of column names and a list of rows"
        raise PlanError([Fault(where, "", rule, 'Write {"columns": [...], "rows": [[...], ...]}')])
    missing = [name for name in NEEDED if name not in columns]
    if missing:
        rule = "a prediction needs these columns"
        raise PlanError(
            [Fault(f"{where}: columns", ", ".join(missing) + " missing", rule, f"Add {', '.join(missing)}")]
        )
    read, faults = [], list[Fault]()
    for index, row in enumerate(rows):
        try:
            read.append(_read_row(columns, row, f"{where}: rows[{index}]"))
        except PlanError as error:
            faults.extend(error.faults)
    if faults:
        raise PlanError(faults)
    return read


def _read_row(columns: Sequence[str], row: object, where: str) -> BenchRow:
    if not isinstance(row, list) or len(row) != len(columns):
        given = f"{len(row)} values" if isinstance(row, list) else type(row).__name__
        raise PlanError([Fault(where, given, f"a row has one value for each of the {len(columns)} columns", "Fill it")])
    value = dict(zip(columns, row, strict=True))
    faults = []
    for name in COUNTS:
        count = value.get(name)
        absent = count is None and name in ("tp", "ep")
        if not absent and not (isinstance(count, int | float) and math.isfinite(count) and count >= 1):
            faults.append(Fault(f"{where}.{name}", str(count), "is a count and must be 1 or more", "Correct it"))
    gpu = accelerators().get(GPUS.get(str(value["gpu"]).lower(), str(value["gpu"])))
    if gpu is None or gpu.bandwidth_gb_per_second is None:
        known = ", ".join(sorted(GPUS))
        faults.append(Fault(f"{where}.gpu", str(value["gpu"]), "Tandem has no rates of this GPU", f"Known: {known}"))
    weights = FORMATS.get(str(value["precision"]).lower())
    if weights is None:
        known = ", ".join(FORMATS)
        faults.append(
            Fault(f"{where}.precision", str(value["precision"]), "not a format of weights", f"Known: {known}")
        )
    elif gpu is not None and product_tflops(gpu, weights) is None:
        fix = "Choose a format that it has"
        faults.append(Fault(f"{where}.precision", weights.name, f"{gpu.name} has no tensor cores of this format", fix))
    try:
        shape = shape_of(str(value["model"]))
    except PlanError as error:
        faults.extend(replace(fault, where=f"{where}.{fault.where}") for fault in error.faults)
    if faults or gpu is None or weights is None:
        raise PlanError(faults)
    # Published FP8 and FP4 runs keep KV at 8 bits; the sources do not say (facts: planner 3.3).
    kv = str(value.get("kv_dtype") or ("bf16" if weights.weight_bytes > 1 or weights.name.startswith("w4") else "fp8"))
    parts = int(value.get("ep") or 1)
    engine = Engine(shape, gpu, int(value.get("tp") or 1), weights, kv, data_parallel_attention=parts > 1)
    load = Load(float(value["isl"]), float(value["osl"]), float(value["concurrency"]))
    return BenchRow(engine, str(value.get("backend") or ""), load)


def calibrated(row: BenchRow, calibration: Calibration | None = None) -> Engine:
    """The row's engine with its GPU's and backend's calibration, or with the one given."""
    return replace(row.engine, calibration=calibration or calibration_for(row.engine.gpu.name, row.backend))


def predict_table(table: Mapping[str, Any], where: str, *, calibrate: bool = True) -> dict[str, Any]:
    """Predictions in the table's order, each with its relative error bar. A row that does not fit says by how much."""
    answers = []
    for row in read_rows(table, where):
        engine = calibrated(row, None if calibrate else DEFAULT)
        answers.append(_answer(engine, predict(engine, row.load)))
    return {"rows": answers}


def _answer(engine: Engine, found: Prediction | None) -> dict[str, Any]:
    error = engine.calibration.error_for(engine.shape.architecture)
    if found is None:
        short = -engine.kv_pool_bytes / 1e9
        why = (
            f"does not fit: {short:.0f} GB short"
            if short > 0
            else "does not fit: one request's KV is larger than the pool"
        )
        return {"ttft_ms": None, "tpot_ms": None, "out_tok_s_gpu": None, "error_bar": None, "reason": why}
    return {
        "ttft_ms": round(found.ttft_ms, 2),
        "tpot_ms": round(found.tpot_ms, 3),
        "out_tok_s_gpu": round(found.out_tok_s_gpu, 2),
        "error_bar": {"ttft_ms": error.ttft, "tpot_ms": error.tpot, "out_tok_s_gpu": error.throughput},
        "running": round(found.running, 1),
        "calibration": engine.calibration.label,
    }
