"""Keys change with what the toolchain is made of, and with nothing else."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from toolchain import pins


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the toolchain's sources that a test may change; `pins` reads it."""
    copy = tmp_path / "toolchain"
    shutil.copytree(pins.SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(pins, "SOURCE", copy)
    _forget()
    yield copy
    _forget()


def _forget() -> None:
    pins.parts.cache_clear()
    pins.key.cache_clear()


def _keys() -> dict[str, str]:
    _forget()
    return {part.name: part.key for part in pins.parts()} | {"whole": pins.key()}


def _changed(before: dict[str, str]) -> set[str]:
    after = _keys()
    return {name for name in before if before[name] != after[name]}


def test_a_changed_go_sum_renews_that_binary_and_the_toolchain(source: Path) -> None:
    before = _keys()
    with (source / "coredns" / "go.sum").open("a") as file:
        file.write("example.org/module v1.0.0 h1:x=\n")
    assert _changed(before) == {"coredns", "whole"}


def test_a_new_version_in_go_mod_renews_that_binary_and_its_flags(source: Path) -> None:
    before = _keys()
    go_mod = source / "kube" / "go.mod"
    go_mod.write_text(go_mod.read_text().replace("k8s.io/kubernetes v1.36.3", "k8s.io/kubernetes v1.36.4"))
    assert _changed(before) == {"kube", "whole"}
    kube = next(part for part in pins.parts() if part.name == "kube")
    assert "gitVersion=v1.36.4" in " ".join(kube.build_flags()), "the version is written in one place only"


def test_a_changed_go_source_renews_that_binary(source: Path) -> None:
    before = _keys()
    with (source / "pulumi-kubernetes" / "main.go").open("a") as file:
        file.write("// changed\n")
    assert _changed(before) == {"pulumi-resource-kubernetes", "whole"}


def test_a_changed_language_host_compiles_nothing(source: Path) -> None:
    before = _keys()
    with (source / "language_host" / "servicer.py").open("a") as file:
        file.write("# changed\n")
    assert _changed(before) == {"whole"}, "Go binaries do not depend on Python sources"


def test_the_same_sources_give_the_same_keys_in_another_folder(source: Path) -> None:
    copied = _keys()
    elsewhere = source.parent / "elsewhere"
    source.rename(elsewhere)
    pins.SOURCE = elsewhere  # the fixture's monkeypatch restores it
    assert _keys() == copied, "a second clone must find the first one's toolchain"


def test_provider_versions_are_those_of_the_python_sdks() -> None:
    project = tomllib.loads((pins.SOURCE.parents[1] / "pyproject.toml").read_text())
    wanted = project["project"]["dependencies"]
    assert f"pulumi-kubernetes=={pins.KUBERNETES_PROVIDER}" in wanted
    assert f"pulumi-aws=={pins.AWS_PROVIDER}" in wanted


def test_the_go_that_pypi_gives_is_new_enough_for_every_module() -> None:
    release = tuple(int(number) for number in pins.GO_FROM_PYPI.split("."))
    assert release >= pins.go_release_required()
