"""`up` says at once what keeps the local cloud from running, and starts nothing then."""

from __future__ import annotations

import shutil
import socket
from collections import namedtuple
from pathlib import Path

import pytest
from local import cloud
from local.doors import PortTaken, wanted_doors
from local.paths import LocalPaths
from local.regions import in_order
from local.settings import Doors, Settings
from tandem.errors import CloudUnavailable

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """With programs that need not be there: nothing is started in these tests."""
    binaries = tmp_path / "bin"
    binaries.mkdir()
    for name in ("kube", "coredns"):
        (binaries / name).write_text("#!/bin/sh\n")
        (binaries / name).chmod(0o755)
    return Settings(binaries=binaries, doors=Doors(aws=0, kubernetes=0, edge=0))


def test_a_full_disk_is_told_before_anything_starts(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100, 99, 40 * 2**20))
    with pytest.raises(CloudUnavailable, match=r"40 MiB free .* needs 512 MiB"):
        cloud.up(LocalPaths(tmp_path / "local"), settings, lambda _: None)
    assert not (tmp_path / "local" / "keeper.json").exists()


def test_a_taken_port_is_told_with_who_has_it(settings: Settings, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        wanted = settings.model_copy(update={"doors": Doors(aws=port, kubernetes=0, edge=0)})
        with pytest.raises(PortTaken, match=rf"doors\.aws: 127\.0\.0\.1:{port} is taken by .*\(process id \d+\)"):
            cloud.up(LocalPaths(tmp_path / "local"), wanted, lambda _: None)
    assert not (tmp_path / "local" / "keeper.json").exists()


def test_each_regions_doors_follow_the_first_ones() -> None:
    regions = in_order(("us-east-1", "eu-west-1"))
    doors = wanted_doors(Doors(aws=1000, kubernetes=2000, edge=0), regions)
    assert doors == {
        "aws": 1000,
        "kubernetes": 2000,
        "edge": 0,
        "kubernetes.eu-west-1": 2001,
        "edge.eu-west-1": 0,
    }


def test_what_up_waits_for_is_there_in_every_region() -> None:
    names = cloud.needed(in_order(("us-east-1", "eu-west-1")))
    assert {"doors", "aws", "kube-apiserver", "kube-apiserver.eu-west-1"} <= set(names)


def test_down_of_what_was_never_up_is_nothing(tmp_path: Path) -> None:
    cloud.down(LocalPaths(tmp_path / "local"), True, lambda _: None)
    assert not (tmp_path / "local").exists()
