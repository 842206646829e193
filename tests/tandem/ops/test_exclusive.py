"""Two commands never change one environment at once, and a dead one holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tandem.ops.exclusive import Busy, changing

HOLD = (
    "import sys; from pathlib import Path; from tandem.ops.exclusive import changing\n"
    "with changing('local', Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()\n"
)


def holder(state: Path) -> subprocess.Popen[str]:
    """Another process that changes the environment."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(state)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_command_is_refused_and_told_who_is_at_work(tmp_path: Path) -> None:
    other = holder(tmp_path)
    with (
        pytest.raises(Busy, match=f"environment local: process id {other.pid} changes it"),
        changing("local", tmp_path),
    ):
        pass
    with changing("dev", tmp_path):
        pass  # another environment is nobody's business
    other.communicate()


def test_a_killed_commands_hold_ends_with_it(tmp_path: Path) -> None:
    other = holder(tmp_path)
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    with changing("local", tmp_path):
        assert (tmp_path / "local.lock").read_text() == str(os.getpid())
    assert list(tmp_path.iterdir()) == [], "no lock file is left"
