"""Reads measured rows: a table with measured columns, or the JSON lines that SGLang's `bench_serving` writes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tandem.errors import Fault, PlanError
from tandem.plan.performance.calibrate import Measured
from tandem.plan.performance.predict import read_rows

BENCH_SERVING = {
    "isl": "random_input_len",
    "osl": "random_output_len",
    "concurrency": "max_concurrency",
    "ttft_ms": "mean_ttft_ms",
    "tpot_ms": "mean_tpot_ms",
}
"""Our columns -> keys of a line of `python -m sglang.bench_serving --output-file`."""


def read_bench(text: str, where: str, *, given: Mapping[str, Any]) -> list[Measured]:
    """The measured rows of a file. `given` has what a bench line does not say: model, gpu, precision, tp.

    Raises `PlanError` with every fault.
    """
    try:
        content = json.loads(text)
    except json.JSONDecodeError:
        content = _lines(text, where, given)
    if isinstance(content, dict) and "columns" not in content:
        content = _lines(text, where, given)
    if not isinstance(content, dict):
        raise PlanError([Fault(where, "", "neither a table nor lines of bench_serving", "Give one of the two")])
    rows = read_rows(content, where)
    columns = content["columns"]
    faults, measured = [], []
    for index, (row, values) in enumerate(zip(rows, content["rows"], strict=True)):
        value = dict(zip(columns, values, strict=True))
        times = [value.get("ttft_ms"), value.get("tpot_ms")]
        if not all(isinstance(time, int | float) and math.isfinite(time) and time > 0 for time in times):
            rule = "a calibration needs the measured times, above zero"
            faults.append(Fault(f"{where}: rows[{index}]", f"ttft_ms, tpot_ms = {times}", rule, "Remove the row"))
        else:
            measured.append(Measured(row, float(value["ttft_ms"]), float(value["tpot_ms"])))
    if faults:
        raise PlanError(faults)
    return measured


def _lines(text: str, where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    columns = [*given, *BENCH_SERVING]
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            fault = Fault(f"{where}:{number}", line[:40], f"is not JSON: {error.msg}", "Give the bench's output file")
            raise PlanError([fault]) from error
        rows.append([*given.values(), *(value.get(key) for key in BENCH_SERVING.values())])
    return {"columns": columns, "rows": rows}
