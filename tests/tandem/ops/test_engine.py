"""One stack's operations through the real engine: they go on after a kill, and failures are one line for a person."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tandem.errors import EngineFailed
from tandem.ops.engine import Engine
from tandem.ops.progress import Progress
from toolchain import paths

pytestmark = pytest.mark.engine

PROGRAM = """
import os, pulumi
for n in range(int(os.environ["COUNT"])):
    pulumi.ComponentResource("test:index:Thing", f"thing-{n}")
if os.environ.get("BREAK"):
    raise SystemExit("no such model")
if os.environ.get("WAIT"):
    print("holding", flush=True)
    open(os.environ["WAIT"], "w").write("here")
    import threading; threading.Event().wait()
pulumi.export("count", int(os.environ["COUNT"]))
pulumi.export("hidden", pulumi.Output.secret("s3cret"))
"""


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    tools = paths.current()
    assert not tools.missing, "make toolchain comes first"
    backend = tmp_path / "backend"
    return {
        "PATH": f"{tools.bin}{os.pathsep}{os.environ['PATH']}",
        "PULUMI_HOME": str(tools.home),
        "PULUMI_BACKEND_URL": f"file://{backend}",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "TANDEM_PYTHON": sys.executable,
        "TANDEM_STATE": str(backend),
        "COUNT": "2",
    }


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text(
        f"name: small\nruntime: {{name: python, options: {{virtualenv: {json.dumps(sys.prefix)}}}}}\n"
    )
    (folder / "__main__.py").write_text(PROGRAM)
    return folder


def engine(variables: dict[str, str], project: Path) -> Engine:
    return Engine(variables, Progress(quiet=True), project)


def test_up_creates_then_finds_nothing_to_do_and_destroy_leaves_no_record(
    variables: dict[str, str], project: Path
) -> None:
    ours = engine(variables, project)
    assert ours.up("one")["create"] == 3, "two things and the stack itself"
    assert set(ours.up("one")) == {"same"}
    assert set(ours.preview("one", expect_no_changes=True)) == {"same"}
    assert ours.outputs("one") == {"count": 2}, "a secret output is left out"
    assert ours.recorded()["one"]["resources"] == 3
    ours.destroy("one")
    assert "one" not in ours.recorded()
    assert (project / "Pulumi.one.yaml").exists(), "a stack's file is its author's: destroying the stack leaves it"


def test_a_change_that_was_not_expected_fails_the_preview(variables: dict[str, str], project: Path) -> None:
    engine(variables, project).up("one")
    more = engine(variables | {"COUNT": "3"}, project)
    with pytest.raises(EngineFailed, match="no changes were expected"):
        more.preview("one", expect_no_changes=True)


def test_a_failing_program_is_one_line_that_holds_its_reason(variables: dict[str, str], project: Path) -> None:
    with pytest.raises(EngineFailed) as failure:
        engine(variables | {"BREAK": "1"}, project).up("one")
    assert "no such model" in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_killed_runs_lock_is_no_obstacle_and_a_live_one_is(
    variables: dict[str, str], project: Path, tmp_path: Path
) -> None:
    ours = engine(variables, project)
    ours.up("one")
    here = tmp_path / "here"
    os.mkfifo(here)
    holder = subprocess.Popen(
        ["pulumi", "up", "-s", "one", "--yes", "--skip-preview"],
        cwd=project,
        env=os.environ | variables | {"WAIT": str(here)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert here.read_text() == "here", "the program holds the engine, and the engine the lock"
        locks = list((tmp_path / "backend" / ".pulumi" / "locks").rglob("*.json"))
        assert [json.loads(lock.read_text())["pid"] for lock in locks] == [holder.pid]
        with pytest.raises(EngineFailed, match="lock"):
            ours.up("one")
    finally:
        os.killpg(holder.pid, signal.SIGKILL)
    # Dead, but not collected by its parent: not every machine's first process does that at once.
    os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
    assert set(ours.up("one")) == {"same"}, "the dead run's lock was removed"
    holder.wait()
