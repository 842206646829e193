"""Claim: with the toolchain cached, the whole test run takes at most 15 minutes: `.venv/bin/python benchmarks/test_run.py`.

The figure is this machine's; the ratio to collecting the tests alone says what is work and what is overhead.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOAL_SECONDS = 900


def main() -> int:
    collecting, _ = _timed("--collect-only", "-q")
    running, code = _timed()
    print(
        f"whole test run {running / 60:.1f} min (goal {GOAL_SECONDS / 60:.0f}), {running / collecting:.0f}x collecting them alone"
    )
    return code or int(running > GOAL_SECONDS)


def _timed(*arguments: str) -> tuple[float, int]:
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "pytest", "-m", "not long", *arguments], cwd=ROOT, check=False)
    return time.perf_counter() - started, done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
