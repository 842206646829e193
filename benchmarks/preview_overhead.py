"""Claim: previewing a stack of ours costs at most 1.3x as many resources that do nothing, on the same engine.

Run with the local site up: `.venv/bin/python benchmarks/preview_overhead.py`. Both sides run in turn, in one
session, so that the machine's noise falls on both; the median of the pairs' ratios is the figure.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STACKS = ("local-network", "local-cluster", "local-edge", "local-serving")
PAIRS = 5


def main() -> int:
    variables = json.loads(_output([sys.executable, "-m", "tandem.cli", "env", "local", "--json"], os.environ))
    ours = os.environ | variables
    with tempfile.TemporaryDirectory() as backend:
        trivial = ours | {"PULUMI_BACKEND_URL": f"file://{backend}"}
        for stack in STACKS:
            count = len(
                json.loads(_output(["pulumi", "stack", "export", "-s", stack], ours))["deployment"]["resources"]
            )
            trivial["TRIVIAL_RESOURCES"] = str(count)
            name = f"n{count}-{stack}"
            _output(["pulumi", "stack", "init", name], trivial, cwd=ROOT / "benchmarks" / "trivial")
            _output(
                ["pulumi", "up", "-s", name, "--yes", "--skip-preview"], trivial, cwd=ROOT / "benchmarks" / "trivial"
            )
            ratios = []
            for _ in range(PAIRS):
                a = _seconds(["pulumi", "preview", "-s", stack, "--non-interactive"], ours, ROOT)
                b = _seconds(
                    ["pulumi", "preview", "-s", name, "--non-interactive"], trivial, ROOT / "benchmarks" / "trivial"
                )
                ratios.append(a / b)
            low, high = min(ratios), max(ratios)
            print(
                f"{stack}: {count} resources, ratio {statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})",
                flush=True,
            )
            (ROOT / "benchmarks" / "trivial" / f"Pulumi.{name}.yaml").unlink(missing_ok=True)
    return 0


def _seconds(command: list[str], environment: dict[str, str], folder: Path) -> float:
    started = time.perf_counter()
    _output(command, environment, cwd=folder)
    return time.perf_counter() - started


def _output(command: list[str], environment: object, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)  # type: ignore[arg-type]
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
