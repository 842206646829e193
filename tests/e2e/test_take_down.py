"""`tandem down` leaves nothing, whatever was killed on the way. Runs last: it takes the shared site away."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import processes
from tests.e2e.conftest import ROOT, Site

pytestmark = [pytest.mark.cloud, pytest.mark.engine, pytest.mark.timeout(600)]


def test_a_down_that_is_killed_is_finished_by_the_next_and_leaves_nothing(site: Site) -> None:
    doors = site.local_status()["doors"]
    half_way(site)
    processes.kill(site.process("keeper")["pid"])
    done = site.json("down", "local")
    assert sum(done["destroyed"].values()) > 0, "the second run had something left to destroy"

    assert list(processes.of_site(site.state)) == [], "no process"
    assert processes.networks() <= site.networks_before, "no network namespace"
    assert processes.mounts_below(site.state) == [], "no mount"
    assert not (site.state / "local").exists(), "no socket or record"
    assert list(site.state.glob("*.lock")) == [], "no lock"
    assert list((site.state / "pulumi").glob(".pulumi/locks/**/*.json")) == [], "no lock of a stack"
    for name, port in doors.items():
        with socket.create_server(("127.0.0.1", port)):
            pass  # raises where somebody still listens
        assert port > 0, name


def test_down_again_has_nothing_to_do(site: Site) -> None:
    assert site.json("down", "local")["destroyed"] == {}


def half_way(site: Site) -> None:
    """Starts a `down`, and kills it with all of its engines as soon as it destroyed something."""
    started = subprocess.Popen(
        [sys.executable, "-m", "tandem.cli", "down", "local"],
        env=site.environment,
        cwd=Path(ROOT),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stderr is not None
    assert any("destroy delete" in line for line in started.stderr), "it destroyed something before it ended"
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
