"""`tandem simulate MODEL`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from tandem.cli import options
from tandem.cli.plan_explore import shape_named, traffic_in
from tandem.errors import Fault, PlanError
from tandem.plan.capacity.search import search
from tandem.plan.capacity.traffic import read_objectives
from tandem.plan.simulate.arrivals import Arrival, poisson, read_trace
from tandem.plan.simulate.run import Failure, System, simulate


@click.command("simulate")
@click.argument("model")
@click.option(
    "--traffic",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="As in `tandem plan explore`.",
)
@click.option("--slo", required=True, help="ttft=MS,tpot=MS[,p=0.99]")
@click.option(
    "--trace", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Arrivals from a trace file."
)
@click.option("--requests", default=10_000, show_default=True, type=click.IntRange(1, 2_000_000))
@click.option(
    "--burstiness",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.05, 50),
    help="Gaps' coefficient of variation; 1 is Poisson.",
)
@click.option(
    "--rate-times",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.01, 100),
    help="Arrivals at this multiple of the planned rate.",
)
@click.option(
    "--fail-at",
    multiple=True,
    type=click.FloatRange(0),
    help="A decode engine fails at this second, and is back after 300.",
)
@click.option("--seed", default=1, show_default=True)
@options.as_json
def command(
    model: str,
    traffic: Path,
    slo: str,
    trace: Path | None,
    requests: int,
    burstiness: float,
    rate_times: float,
    fail_at: tuple[float, ...],
    seed: int,
    as_json: bool,
) -> None:
    """Plan a split for MODEL and traffic as `explore` does, then run requests through it, event by event."""
    asked = traffic_in(traffic)
    objectives = read_objectives(slo)
    split = search(shape_named(model), asked, objectives).split
    if split is None:
        fix = "Ask `tandem plan explore` what binds"
        raise PlanError(
            [Fault("--slo", slo, "no prefill/decode split meets the objectives, so there is none to run", fix)]
        )
    first, second = split.prefill, split.decode
    system = System(
        first.option.engine, first.engines, second.option.engine, second.engines, first.option.kv_gbps * first.engines
    )
    arrivals: list[Arrival] | Any = (
        read_trace(trace.read_text(encoding="utf-8"), str(trace))
        if trace
        else poisson(
            replace(asked, requests_per_second=asked.requests_per_second * rate_times), requests, seed, burstiness
        )
    )
    failures = [Failure(at, index % second.engines, 300.0) for index, at in enumerate(fail_at)]
    found = simulate(system, arrivals, failures)
    report = {
        "simulated": split.label,
        "requests": found.finished,
        "output_tokens": found.tokens,
        "seconds": round(found.seconds, 1),
        "slo_attainment": round(found.attainment(objectives.ttft_ms / 1e3, objectives.tpot_ms / 1e3), 4),
        "ttft_ms": _quantiles(found.ttft),
        "tpot_ms": _quantiles(found.tpot),
        "retracted": found.retracted,
        "sent_back_by_failures": found.failed,
        "usd": round(split.bill.usd_per_hour * found.seconds / 3600, 2),
        "seed": seed,
    }
    if as_json:
        options.print_json(report)
        return
    for name, value in report.items():
        click.echo(f"{name.replace('_', ' '):<22} {json.dumps(value)}")


def _quantiles(seconds: Any) -> dict[str, float]:
    return {f"p{share:g}": round(float(np.quantile(seconds, share / 100)) * 1e3, 2) for share in (50, 90, 99)}
