"""A real environment's own stack files, all regions, on this machine: up, as they say, unchanged by a second look, and gone again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, environment_for

pytestmark = [pytest.mark.long, pytest.mark.engine, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("name", ["dev"])
def test_a_real_environment_is_rehearsed_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in (ROOT / "stacks").glob("*.yaml")}
    done = subprocess.run(
        [sys.executable, "-m", "tandem.cli", "rehearse", name, "--json"],
        env=environment_for(tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    report = json.loads(done.stdout)
    assert [finding for finding in report["findings"] if not finding["holds"]] == []
    assert {finding["name"].rpartition(": ")[2] for finding in report["findings"]} >= {"nodes", "workloads"}
    assert report["proof"]["kv_bytes"] > 0
    assert set(report["destroyed"]["destroyed"]) == set(report["changes"]), "every stack was destroyed again"
    assert {path: path.read_bytes() for path in before} == before, "no stack file was written into"
    assert not (tmp_path / f"rehearse-{name}" / "local").exists()
