"""A folder that cannot be used is told in one line, before anything is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from toolchain.folders import Unusable, usable


def test_a_folder_that_is_not_there_yet_is_fine(tmp_path: Path) -> None:
    assert usable(tmp_path / "a" / "b", "TANDEM_STATE") == tmp_path / "a" / "b"
    assert not (tmp_path / "a").exists()


def test_a_file_in_its_place_or_above_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(Unusable, match=r"file: is no folder .* TANDEM_STATE=DIR"):
            usable(folder, "TANDEM_STATE")


@pytest.mark.parametrize(
    "command", [["local", "up"], ["local", "status"], ["local", "down"], ["tandem.cli", "status"], ["tandem.cli", "up"]]
)
@pytest.mark.parametrize("kind", ["file", "another's"])
def test_every_command_says_so_in_one_line(tmp_path: Path, command: list[str], kind: str) -> None:
    state = tmp_path / "state"
    if kind == "file":
        state.write_text("")
    else:
        state.mkdir(mode=0o500)
    # Root may write anywhere; without its capabilities it is held to the mode as anybody is.
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, sys.executable, "-m", *command],
        env=os.environ | {"TANDEM_STATE": str(state)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1, done.stderr
    assert str(state) in done.stderr
