"""Packages of the operating system are installed where that is possible, and else named in one message."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest
from tandem.errors import MissingTool
from toolchain import debian

ABSENT = debian.Need("no-such-package", "no-such-command", "a test")


class Apt:
    """Behaves like apt-get: knows no package until `update`, if told so; records its calls."""

    def __init__(self, *, knows: bool, gets: bool = True) -> None:
        self.knows, self.gets = knows, gets
        self.calls: list[str] = []

    def __call__(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        verb = "update" if "update" in arguments else "install"
        self.calls.append(verb)
        if verb == "update":
            self.knows = self.gets
            return subprocess.CompletedProcess(arguments, 0, "", "")
        code, words = (0, "") if self.knows else (100, "E: Unable to locate package no-such-package\n")
        return subprocess.CompletedProcess(arguments, code, "", words)


@pytest.fixture
def root_on_debian(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is root, and apt-get is there; one package is missing until it was installed."""
    lacking = [[ABSENT], []]
    monkeypatch.setattr(debian, "missing", lambda: lacking.pop(0))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name, **_: f"/usr/bin/{name}")


def test_nothing_is_run_where_nothing_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "missing", list)
    apt = Apt(knows=True)
    debian.ensure(print, apt)
    assert apt.calls == []


@pytest.mark.usefixtures("root_on_debian")
def test_a_missing_package_is_installed_without_an_update_where_lists_are_fresh() -> None:
    apt = Apt(knows=True)
    debian.ensure(print, apt)
    assert apt.calls == ["install"]


@pytest.mark.usefixtures("root_on_debian")
def test_old_package_lists_are_updated_once() -> None:
    apt = Apt(knows=False)
    debian.ensure(print, apt)
    assert apt.calls == ["install", "update", "install"]


@pytest.mark.usefixtures("root_on_debian")
def test_what_apt_said_reaches_the_person() -> None:
    with pytest.raises(MissingTool, match="Unable to locate package"):
        debian.ensure(print, Apt(knows=False, gets=False))


def test_an_ordinary_user_is_told_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "missing", lambda: [ABSENT])
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(MissingTool) as caught:
        debian.ensure(print)
    assert debian.command([ABSENT]) in str(caught.value)
    assert "a test" in str(caught.value), "the reason is given"
    assert "\n" not in str(caught.value)


def test_a_need_is_recognised_by_its_file_and_not_by_a_package_name() -> None:
    assert debian.Need("dash", "sh", "a test").present
    assert debian.Need("libc6", "libc.so.6", "a test").present
    assert not ABSENT.present
    assert not debian.Need("x", "libnosuchlibrary.so.1", "a test").present
