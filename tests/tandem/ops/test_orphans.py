"""What a killed engine left is ended; what belongs to somebody else, or to a living engine, is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tandem.ops import orphans

PLUGIN = "import sys; print('up', flush=True); sys.stdin.read()"
ENGINE = "import subprocess, sys; sys.exit(subprocess.call([sys.argv[2], sys.argv[1]]))"

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a process that looks like a plugin of an engine that works on `state`; below an engine if that is `living`."""
    program = tmp_path / "pulumi-resource-kubernetes"
    program.write_text(PLUGIN)
    started: list[subprocess.Popen[str]] = []

    def start_one(state: Path, *, living: bool = False) -> subprocess.Popen[str]:
        # The first word is what a process is called by: here the name of the engine.
        argv = ["pulumi", "-c", ENGINE, str(program), sys.executable] if living else ["python", str(program)]
        process = subprocess.Popen(
            argv,
            executable=sys.executable,
            env=os.environ | {"TANDEM_STATE": str(state)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process

    yield start_one
    for process in started:
        assert process.stdin is not None
        process.stdin.close()  # ends the plugin, and with it an engine that waits for it
        process.wait(timeout=10)


def test_a_plugin_without_its_engine_is_ended(start: Start, tmp_path: Path) -> None:
    orphan = start(tmp_path / "state")
    assert orphans.end(tmp_path / "state") == 1
    assert orphan.wait(timeout=10) == -9


def test_another_states_plugin_and_that_of_a_living_engine_stay(start: Start, tmp_path: Path) -> None:
    others = [start(tmp_path / "another"), start(tmp_path / "state", living=True)]
    assert orphans.end(tmp_path / "state") == 0
    assert [process.poll() for process in others] == [None, None]
