"""Claim: with the toolchain cached, first token <= 60 s after `make up`, and again no change within 60 s.

Takes a site of its own up and down again: `.venv/bin/python benchmarks/first_token.py`. The figures are this machine's;
the ratio to the bare start of the same control plane says what Tandem adds to it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    with tempfile.TemporaryDirectory() as state:
        environment = os.environ | {"TANDEM_STATE": state, "TANDEM_DOORS": "edge=28443,kubernetes=26443,aws=24566"}
        try:
            first, report = _timed(environment, "up", "local", "--json")
            again, second = _timed(environment, "up", "local", "--json")
        finally:
            down, _ = _timed(environment, "down", "local", "--json")
    changes = sum(n for c in second["changes"].values() for op, n in c.items() if op != "same")
    print(f"up to the end of the first answer {first:.0f} s (goal 60)")
    print(f"again {again:.0f} s with {changes} changes (goal 60, 0); down {down:.0f} s")
    print(f"TTFT {report['proof']['answer']['ttft_seconds']:.3f} s (simulated engine)")
    return 0 if first <= 60 and again <= 60 and changes == 0 else 1


def _timed(environment: dict[str, str], *arguments: str) -> tuple[float, dict[str, object]]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tandem.cli", *arguments],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"tandem {' '.join(arguments)} ended with {done.returncode}")
    return time.perf_counter() - started, json.loads(done.stdout)


if __name__ == "__main__":
    raise SystemExit(main())
