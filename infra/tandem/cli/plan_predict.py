"""`tandem plan predict ROWS.json`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tandem.cli import options
from tandem.errors import Fault, PlanError
from tandem.plan.performance.predict import predict_table


@click.command("predict")
@click.argument("rows", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--uncalibrated", is_flag=True, help="Use the roofline's defaults, even where a calibration exists.")
@options.as_json
def command(rows: Path, uncalibrated: bool, as_json: bool) -> None:
    """Predict the rows of a table {"columns": [...], "rows": [...]}; measured columns are not read."""
    try:
        table = json.loads(rows.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise PlanError([Fault(str(rows), "", f"is not JSON: {error}", "Give a table as the help shows it")]) from error
    if not isinstance(table, dict):
        rule = "a table is an object with columns and rows"
        raise PlanError([Fault(str(rows), type(table).__name__, rule, 'Write {"columns": [...], "rows": [[...]]}')])
    report = predict_table(table, str(rows), calibrate=not uncalibrated)
    if as_json:
        options.print_json(report)
        return
    click.echo(f"{'row':>4} {'TTFT ms':>10} {'TPOT ms':>9} {'tok/s/GPU':>10}  error bars; calibration")
    for index, row in enumerate(report["rows"]):
        if row["error_bar"] is None:
            click.echo(f"{index:>4} {row['reason']}")
            continue
        bar = " ".join(f"{value:.0%}" for value in row["error_bar"].values())
        values = f"{row['ttft_ms']:>10.1f} {row['tpot_ms']:>9.2f} {row['out_tok_s_gpu']:>10.1f}"
        click.echo(f"{index:>4} {values}  +-{bar}; {row['calibration']}")
