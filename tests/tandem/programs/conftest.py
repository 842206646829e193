"""The real engine with the local stand-in for AWS, and a copy of the checkout's project, for one test session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from toolchain import paths

ROOT = Path(__file__).parents[3]
PULUMI_SECONDS = 300


@dataclass(frozen=True)
class Project:
    """A Pulumi project whose stacks live in a backend of their own."""

    folder: Path
    environment: dict[str, str]

    def pulumi(self, *arguments: str, fails: bool = False) -> str:
        """Runs the engine and gives what it printed; with `fails` it must end with an error."""
        done = subprocess.run(
            ["pulumi", "--non-interactive", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PULUMI_SECONDS,
            check=False,
        )
        said = done.stdout + done.stderr
        assert (done.returncode != 0) == fails, f"pulumi {' '.join(arguments)} ended with {done.returncode}:\n{said}"
        return said

    def up(self, stack: str) -> str:
        """Applies a stack, and makes its record where there is none."""
        self.pulumi("stack", "select", "--create", stack)
        return self.pulumi("up", "-s", stack, "--yes", "--skip-preview")

    def outputs(self, stack: str) -> dict[str, Any]:
        """A stack's outputs."""
        found: dict[str, Any] = json.loads(self.pulumi("stack", "output", "--json", "-s", stack))
        return found


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A copy of the project beside a stand-in for AWS that nothing else uses."""
    tools = paths.current()
    assert not tools.missing, f"run make toolchain: {tools.missing}"
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "Pulumi.yaml", folder)
    shutil.copytree(ROOT / "stacks", folder / "stacks")
    (folder / "infra").symlink_to(ROOT / "infra")
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "state").mkdir()
    log = (folder / "aws.log").open("w+", encoding="utf-8")
    server = subprocess.Popen(
        [sys.executable, "-m", "local.aws.server", "--port", "0", "--journal", str(folder / "aws")],
        cwd=ROOT / "infra",
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    assert server.stdout is not None
    try:
        ready = server.stdout.readline()
        assert ready.startswith("ready on "), (folder / "aws.log").read_text(encoding="utf-8")
        yield Project(
            folder,
            os.environ
            | {
                "PATH": f"{tools.bin}{os.pathsep}{os.environ['PATH']}",
                "PULUMI_HOME": str(tools.home),
                "PULUMI_BACKEND_URL": f"file://{folder / 'state'}",
                "PULUMI_CONFIG_PASSPHRASE": "local",
                "PULUMI_SKIP_UPDATE_CHECK": "true",
                "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
                "TANDEM_PYTHON": sys.executable,
                "TANDEM_INFRA": str(ROOT / "infra"),
                "TANDEM_STATE": str(folder / "tandem"),
                "AWS_ENDPOINT_URL": ready.removeprefix("ready on ").partition(",")[0],
                "AWS_ACCESS_KEY_ID": "local",
                "AWS_SECRET_ACCESS_KEY": "local",
                "AWS_REGION": "us-east-1",
                "AWS_EC2_METADATA_DISABLED": "true",
            },
        )
    finally:
        server.terminate()
        server.wait(timeout=10)
        log.close()
