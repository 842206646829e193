"""`tandem plan calibrate LOG`."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

import click

from tandem.cli import options
from tandem.errors import Fault, PlanError
from tandem.plan.performance.bench_log import read_bench
from tandem.plan.performance.calibrate import Measured, calibrate

LEAST_ROWS = 5
"""Fewer rows than folds leave nothing to hold out."""


@click.command("calibrate")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--model", default=None, help="Only rows of this model (in a table), or the model (of a bench_serving file)."
)
@click.option("--gpu", default=None, help="GPU of a bench_serving file.")
@click.option("--engine", default="sglang", show_default=True, help="Engine of a bench_serving file.")
@click.option("--precision", default=None, help="Weight format of a bench_serving file.")
@click.option("--tp", default=1, show_default=True, help="GPUs of one engine of a bench_serving file.")
@options.as_json
def command(
    log: Path, model: str | None, gpu: str | None, engine: str, precision: str | None, tp: int, as_json: bool
) -> None:
    """Fit the model to a bench log: a table with measured columns, or SGLang bench_serving's lines.

    Prints one calibration for each GPU and engine, with the error on rows that the fit did not see.
    """
    given = {"model": model, "gpu": gpu, "backend": engine, "precision": precision, "tp": tp}
    rows = read_bench(log.read_text(encoding="utf-8"), str(log), given=given)
    groups: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for row in rows:
        if model is None or row.row.engine.shape.name == model:
            groups[row.row.engine.gpu.name, row.row.backend].append(row)
    enough = {key: found for key, found in groups.items() if len(found) >= LEAST_ROWS}
    if not enough:
        counts = ", ".join(f"{gpu}/{engine}: {len(found)}" for (gpu, engine), found in groups.items()) or "no rows"
        rule = f"a calibration needs {LEAST_ROWS} rows of one GPU and engine"
        raise PlanError([Fault(str(log), counts, rule, "Measure more loads, or more sizes of engine")])
    found = [calibrate(measured, *key) for key, measured in enough.items()]
    if as_json:
        options.print_json({"calibrations": [asdict(one) for one in found]})
        return
    for one in found:
        error = one.error
        click.echo(
            f"{one.label}: held-out error TPOT {error.tpot:.1%}, TTFT {error.ttft:.1%}, tokens {error.throughput:.1%}"
        )
        click.echo(
            f"  memory {one.memory_share:.2f}, products {one.product_share:.2f}, layer {one.layer_us:.1f} us, "
            f"all-reduce {one.all_reduce_us:.1f} us, request {one.request_us:.1f} us, admission {one.admission_steps:.1f} steps"
        )
