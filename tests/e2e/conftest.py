"""A whole local site of its own for these tests: own state, own ports, so that a person's site stays untouched."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from local.paths import LocalPaths
from local.status import read_status

from tests.e2e import processes

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Site:
    """A running local environment."""

    state: Path
    environment: Mapping[str, str]
    networks_before: frozenset[str]
    """The machine's network namespaces before it was made."""
    first_up: Mapping[str, Any]
    """What the `tandem up` that made it printed."""

    def tandem(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs `tandem` against this site."""
        return _tandem(self.environment, *arguments, check=check)

    def json(self, *arguments: str) -> Any:
        """Runs `tandem ... --json` and gives the document; the exit code is not looked at."""
        done = self.tandem(*arguments, "--json", check=False)
        assert done.stdout, f"tandem {' '.join(arguments)} printed no document: {done.stderr[-3000:]}"
        return json.loads(done.stdout)

    def local_status(self) -> dict[str, Any]:
        """What `tandem-local status --json` prints."""
        return read_status(LocalPaths(self.state / "local")).as_json()

    def process(self, name: str) -> dict[str, Any]:
        """One process of it; empty where there is none of that name."""
        return next((found for found in self.local_status()["processes"] if found["name"] == name), {})

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        """Runs a shell line as a person would, after `eval "$(tandem env local)"`."""
        tandem = f"{sys.executable} -m tandem.cli"
        return subprocess.run(
            ["bash", "-c", f'eval "$({tandem} env local)" && {command}'],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def free_ports(count: int) -> list[int]:
    """Ports on 127.0.0.1 that nobody holds at this moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def environment_for(state: Path) -> dict[str, str]:
    """This process's environment with the site's own state and doors."""
    edge, kubernetes, aws = free_ports(3)
    doors = f"edge={edge},kubernetes={kubernetes},aws={aws}"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PULUMI_", "AWS_", "TANDEM_", "KUBECONFIG"))}
    kept = {k: v for k, v in os.environ.items() if k == "TANDEM_CACHE"}
    return inherited | kept | {"TANDEM_STATE": str(state), "TANDEM_DOORS": doors}


def _tandem(environment: Mapping[str, str], *arguments: str, check: bool) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tandem.cli", *arguments],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if check and done.returncode != 0:
        pytest.fail(
            f"tandem {' '.join(arguments)} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        )
    return done


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, up. At the end it is taken down, whatever the tests did to it."""
    state = tmp_path_factory.mktemp("site")
    environment = environment_for(state)
    networks = processes.networks()
    try:
        first = json.loads(_tandem(environment, "up", "local", "--json", check=True).stdout)
        yield Site(state, environment, networks, first)
    finally:
        _tandem(environment, "down", "local", check=False)
