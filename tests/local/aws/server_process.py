"""The local AWS server as a child process of a test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

HOSTED_ZONE = "ZTANDEM"
"""A zone that the account has from its beginning, as stacks name one; its domain is example.com."""
INFRA = Path(__file__).parents[3] / "infra"


class ServerProcess:
    """`python -m local.aws.server` on a free port, with its journal in `folder`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "local.aws.server", "--port", "0", "--journal", str(folder), *arguments]
        environment = {**os.environ, "PYTHONPATH": str(INFRA)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"ready on (http://127\.0\.0\.1:\d+), (\d+) changes", line)
        assert found is not None, f"the server did not start: {line!r}"
        self.url = found[1]
        self.replayed = int(found[2])

    def client(self, service: str, region: str = "us-east-1") -> Any:
        import botocore.session

        return botocore.session.Session().create_client(
            service,
            region_name=region,
            endpoint_url=self.url,
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
