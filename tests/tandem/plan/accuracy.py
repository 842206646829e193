"""The page `benchmarks/PLANNER.md`: every published serving row beside its prediction.

python -m tests.tandem.plan.accuracy      writes it anew
"""

# ruff: noqa: E501  (rows of a table are one line)

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tandem.facts.tables import document
from tandem.plan.performance.bench_log import read_bench
from tandem.plan.performance.calibrate import Errors, Measured, errors, evaluate, fit, held_out
from tandem.plan.performance.calibration import DEFAULT
from tandem.plan.performance.closed_loop import Prediction, predict
from tandem.plan.performance.predict import calibrated

PAGE = Path(__file__).parents[3] / "benchmarks" / "PLANNER.md"
TARGETS = {"not calibrated": 0.20, "held out": 0.10}
"""Mean TPOT errors that the planner aims at."""
LEAST_ROWS = 9

Key = tuple[str, str, str]

LIMITS = """
## What it gets wrong, and why

| case | by how much | why |
| --- | --- | --- |
| TTFT of TensorRT-LLM at 1K prompts and TP 1 to 4 | up to 5x too low | the engine holds short prompts back for about 20 decode steps; at 8K it does not, and at TP8 neither |
| TPOT at TP8 with 64 clients and more, not calibrated | 20 to 35 % too low | host time of each running request, which only a calibration knows |
| DeepSeek-R1 | see its rows | routing and exchange are two formulas and no measurement; an error bar of dense models is not lent to it |
| a calibration lent to another GPU or engine | no better than none | see the table of transfers: each GPU and engine needs its own |
| AIConfigurator's example | ratio within 15 %, absolute rates 20 to 40 % above | ours has no loss by uneven load between the pools |
| Splitwise's ratio of machines for code | 11 % off | from its profile at one batch, without its SLO's percentiles; its search by cost is not reproduced |
| Mooncake's knee | at the link's share of KV, not at 100 Gbps | its mix of lengths and caches is not in the facts |
| DistServe's attainment | not reproduced | the profile of OPT on A100 that its simulator used is not in the facts |
| H20, and every GPU without a measured product curve (A10G, L4, B300 INT8) | unknown | a share of the data sheet's peak stands in |
| vLLM, 8B, 4K to 8K prompts | TTFT up to 4x too high | the rows' clients do not start together, ours do |

The Prefill-as-a-Service case study (table 6, all three configurations) and the published KV sizes come out within their tolerances:
`tests/tandem/plan/test_offload.py`, `test_shape.py`. Other published systems: `test_published.py`.
"""


def _groups() -> dict[Key, list[Measured]]:
    rows = read_bench(json.dumps(document("serving_anchors")), "serving_anchors", given={})
    found: dict[Key, list[Measured]] = defaultdict(list)
    for row in rows:
        found[row.row.engine.gpu.name, row.row.backend, row.row.engine.shape.name].append(row)
    return found


def _share(value: float) -> str:
    return f"{value:.0%}"


def _verdict(value: float, target: float) -> str:
    return _share(value) if value <= target else f"**{_share(value)}** (worse than {_share(target)})"


def _summary(groups: dict[Key, list[Measured]], held: dict[Key, list[Prediction | None]]) -> Iterator[str]:
    yield "## Mean errors by GPU, engine and model"
    yield ""
    yield "| GPU, engine | model | rows | TPOT, not calibrated | bias | TPOT, held out | TTFT, not calibrated | tokens/s, not calibrated |"
    yield "| --- | --- | --: | --: | --: | --: | --: | --: |"
    every = [row for rows in groups.values() for row in rows]
    entries: list[tuple[str, str, Errors, str]] = [("all", "all", evaluate(every, DEFAULT), "")]
    for key, rows in groups.items():
        out = errors(list(zip(rows, held[key], strict=True))).tpot if key in held else None
        shown = _verdict(out, TARGETS["held out"]) if out is not None else "too few rows"
        entries.append((f"{key[0]}, {key[1]}", key[2], evaluate(rows, DEFAULT), shown))
    for where, model, found, shown in entries:
        tpot = _verdict(found.tpot, TARGETS["not calibrated"])
        yield f"| {where} | {model} | {found.rows} | {tpot} | {found.bias:+.0%} | {shown} | {_share(found.ttft)} | {_share(found.throughput)} |"


def _transfers(groups: dict[Key, list[Measured]]) -> Iterator[str]:
    names = [f"{gpu}, {engine}, {model.rsplit('/', 1)[-1]}" for gpu, engine, model in groups]
    yield ""
    yield "## Mean TPOT error of a calibration (row) on other rows (column); its own column is in sample"
    yield ""
    yield "| calibrated on | " + " | ".join(names) + " |"
    yield "| --- |" + " --: |" * len(names)
    for key, rows in groups.items():
        if len(rows) >= LEAST_ROWS:
            part = fit(rows, key[0], key[1])
            cells = [_share(evaluate(other, part).tpot) for other in groups.values()]
            yield f"| {key[0]}, {key[1]}, {key[2].rsplit('/', 1)[-1]} | " + " | ".join(cells) + " |"


def _rows(groups: dict[Key, list[Measured]], held: dict[Key, list[Prediction | None]]) -> Iterator[str]:
    for key, rows in groups.items():
        yield ""
        yield f"## {key[2]} on {key[0]}, {key[1]}"
        yield ""
        yield "| weights | in / out | TP | clients | TPOT ms measured | not calibrated | error | held out | error | TTFT ms measured | not calibrated | error |"
        yield "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"
        for index, row in enumerate(rows):
            engine, load = row.row.engine, row.row.load
            found = predict(calibrated(row.row, DEFAULT), load)
            other = held[key][index] if key in held else None
            if found is None:
                continue
            parallel = f"{engine.gpus}{' EP' if engine.data_parallel_attention else ''}"
            tail = f"{other.tpot_ms:.1f} | {other.tpot_ms / row.tpot_ms - 1:+.0%}" if other else "- | -"
            yield (
                f"| {engine.weights.name} | {load.input_tokens:.0f} / {load.output_tokens:.0f} | {parallel} | {load.clients:.0f} "
                f"| {row.tpot_ms:.1f} | {found.tpot_ms:.1f} | {found.tpot_ms / row.tpot_ms - 1:+.0%} | {tail} "
                f"| {row.ttft_ms:.0f} | {found.ttft_ms:.0f} | {found.ttft_ms / row.ttft_ms - 1:+.0%} |"
            )


def text() -> str:
    """What the page must hold."""
    groups = _groups()
    held = {key: held_out(rows, key[0], key[1]) for key, rows in groups.items() if len(rows) >= LEAST_ROWS}
    head = [
        "# What the planner gets right and wrong",
        "",
        "Generated by `python -m tests.tandem.plan.accuracy`; a test holds it current. Measured: the published closed-loop rows of",
        "`facts/data/serving_anchors.json`. Not calibrated: the roofline's defaults. Held out: predicted by a fit to the other four folds.",
        "",
    ]
    return (
        "\n".join([*head, *_summary(groups, held), *_transfers(groups), LIMITS.rstrip(), *_rows(groups, held)]) + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
