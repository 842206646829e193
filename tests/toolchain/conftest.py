"""Fixtures: a cache of the test's own with a stand-in for `go`, and the real toolchain with a tiny Pulumi project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from toolchain import build, paths


@dataclass
class Workshop:
    """A cache and a Go that a test controls."""

    folder: Path
    said: list[str] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """What the build sees as its environment."""
        return {
            "PATH": f"{self.folder / 'go-bin'}:/usr/bin:/bin",
            "HOME": str(self.folder),
            "TANDEM_CACHE": str(self.folder / "cache"),
        }

    @property
    def go(self) -> Path:
        """Folder in which the stand-in finds what it is told."""
        return self.folder / "go-bin"

    def shut_gate(self, module: str) -> Path:
        """Make one module's compiler stop halfway: to open the FIFO for writing waits until it got there; closing it lets it go on."""
        gate = self.go / f"gate-{module}"
        os.mkfifo(gate)
        return gate

    def build(self) -> paths.Toolchain:
        """One build, in this process."""
        return build.ensure(self.said.append, self.environ)

    def builds(self) -> list[str]:
        """Modules that were compiled, in order."""
        log = self.go / "builds.log"
        return log.read_text().split() if log.exists() else []


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """An empty cache, and a `go` on PATH that builds at once."""
    made = Workshop(tmp_path)
    install_fake_go(made.go)
    return made


def install_fake_go(folder: Path) -> None:
    """Put the stand-in for `go` into a folder, with the module files that the build copies."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("fake_go.py"), folder / "fake_go.py")
    (folder / "go").write_text(f'#!/bin/sh\nexec {sys.executable} -S "{folder}/fake_go.py" "$@"\n')
    (folder / "go").chmod(0o755)
    for path in ("python/cmd/pulumi-language-python-exec", "cmd/pulumi-resource-kubernetes/schema.json"):
        file = folder / "modules" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
        file.chmod(0o444)


@dataclass
class Project:
    """A Pulumi project with one stack `dev`, run by the real engine and our language host."""

    folder: Path
    environ: dict[str, str]

    def pulumi(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the CLI to its end."""
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False
        )

    def command(self, *arguments: str) -> list[str]:
        """The CLI's command line."""
        return [str(Path(self.environ["TOOLCHAIN_BIN"]) / "pulumi"), *arguments, "--non-interactive", "--color=never"]


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Project]:
    """Makes a project from the text of its program and, where wanted, the options of its runtime."""
    toolchain = paths.current()
    if not toolchain.complete and not build.missing_parts():
        toolchain = build.ensure(print)  # seconds: nothing is compiled
    if not toolchain.complete:
        pytest.skip(f"the toolchain is not built; run: {paths.BUILD_COMMAND}")

    def make(program: str, options: str = f"virtualenv: {sys.prefix}") -> Project:
        folder, state, home = tmp_path / "project", tmp_path / "state", tmp_path / "home"
        for path in (folder, state, home):
            path.mkdir()
        # A home of the test's own: selected stacks of other runs must not meet.
        (home / "plugins").symlink_to(toolchain.home / "plugins")
        (folder / "__main__.py").write_text(program)
        (folder / "Pulumi.yaml").write_text(f"name: tiny\nruntime:\n  name: python\n  options: {{{options}}}\n")
        environ = {
            **os.environ,
            "PATH": f"{toolchain.bin}:{os.environ['PATH']}",
            "TOOLCHAIN_BIN": str(toolchain.bin),
            "PULUMI_HOME": str(home),
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "TANDEM_PYTHON": sys.executable,
        }
        made = Project(folder, environ)
        created = made.pulumi("stack", "init", "dev")
        assert created.returncode == 0, created.stderr
        return made

    return make
