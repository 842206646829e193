"""Claim: previewing a stack of ours costs at most 1.3x as many trivial resources of the same providers, on the same engine.

Run with the local site up: `.venv/bin/python benchmarks/preview_overhead.py`. Both sides run in turn, in one session, so that the
machine's noise falls on both; the median of the pairs' ratios is the figure. A second ratio is to components alone, without any provider:
it shows what the providers' own start costs (a Python process for the aws stand-in, 150 MB of schema for Kubernetes), which no
program of ours can save.
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
STACKS = {"local-network": "aws", "local-cluster": "aws", "local-edge": "aws", "local-serving": "kubernetes"}
"""Stack -> the provider that most of its resources are of."""
GOAL = 1.3
PAIRS = 5
TRIVIAL = ROOT / "benchmarks" / "trivial"


def main() -> int:
    variables = json.loads(_output([sys.executable, "-m", "tandem.cli", "env", "local", "--json"], os.environ))
    ours = os.environ | variables
    missed = 0
    with tempfile.TemporaryDirectory() as backend:
        for stack, provider in STACKS.items():
            state = json.loads(_output(["pulumi", "stack", "export", "-s", stack], ours))
            count = len(state["deployment"]["resources"])
            trivial = ours | {"PULUMI_BACKEND_URL": f"file://{backend}", "TRIVIAL_RESOURCES": str(count)}
            same, bare = (
                _ratios(stack, ours, trivial | {"TRIVIAL_PROVIDER": kind}, kind or "bare") for kind in (provider, "")
            )
            print(
                f"{stack}: {count} resources, {_told(same)} to {provider} resources, {_told(bare)} to components alone",
                flush=True,
            )
            missed += statistics.median(same) > GOAL
    return 1 if missed else 0


def _ratios(stack: str, ours: dict[str, str], trivial: dict[str, str], kind: str) -> list[float]:
    """Seconds of ours over seconds of the trivial stack, pair by pair. The trivial stack is gone afterwards."""
    name = f"{kind}-{stack}"
    _output(["pulumi", "stack", "init", name], trivial, TRIVIAL)
    try:
        _output(["pulumi", "up", "-s", name, "--yes", "--skip-preview"], trivial, TRIVIAL)
        preview = ["pulumi", "preview", "--non-interactive", "-s"]
        return [
            _seconds([*preview, stack], ours, ROOT) / _seconds([*preview, name], trivial, TRIVIAL) for _ in range(PAIRS)
        ]
    finally:
        _output(["pulumi", "destroy", "-s", name, "--yes", "--skip-preview", "--remove"], trivial, TRIVIAL)
        (TRIVIAL / f"Pulumi.{name}.yaml").unlink(missing_ok=True)


def _told(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f})"


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
