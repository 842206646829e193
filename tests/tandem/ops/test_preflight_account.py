"""`tandem preflight dev` as a person runs it: against the simulated AWS, and where AWS gives no answer at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.local.aws.server_process import ServerProcess

KEYS = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
OFFLINE = ("name lengths",)
"""Checks that need no account."""


def preflight(environment: dict[str, str]) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the checks by name."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    none = {
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    done = subprocess.run(
        [sys.executable, "-m", "tandem.cli", "preflight", "dev", "--json"],
        env={**clean, **none, **environment},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stderr == "", "neither a traceback nor a warning"
    return done.returncode, {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def of_the_account(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Check -> answer, of all checks that need the account."""
    return {name: check["verdict"] for name, check in checks.items() if not name.endswith(OFFLINE)}


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("aws")
    with ServerProcess(folder, "--hosted-zone", "Z0123456789EXAMPLE=dev.example.com") as server:
        yield server


def test_a_simulated_aws_is_believed_only_where_it_can_know(simulated: ServerProcess) -> None:
    code, checks = preflight({**KEYS, "AWS_ENDPOINT_URL": simulated.url})
    verdicts = of_the_account(checks)
    assert {name for name, verdict in verdicts.items() if verdict == "ok"} == {
        "caller is in account 123456789012",
        "dev-edge: certificate and record of llm.dev.example.com in zone Z0123456789EXAMPLE",
    }
    assert set(verdicts.values()) == {"ok", "could not be checked"}
    assert all(check["detail"] for check in checks.values())
    assert code == 6


def test_a_bucket_that_is_there_is_reached(simulated: ServerProcess) -> None:
    bucket = "tandem-weights-dev-home-123456789012"
    simulated.client("s3").create_bucket(Bucket=bucket)
    _, checks = preflight({**KEYS, "AWS_ENDPOINT_URL": simulated.url})
    assert checks[f"dev-registry: bucket {bucket}"]["verdict"] == "ok"


def test_an_account_without_the_zone_fails_with_a_fix(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as empty:
        code, checks = preflight({**KEYS, "AWS_ENDPOINT_URL": empty.url})
    zone = checks["dev-edge: certificate and record of llm.dev.example.com in zone Z0123456789EXAMPLE"]
    assert (code, zone["verdict"]) == (1, "fails")
    assert zone["fix"]


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "Unable to locate credentials"),
        ({**KEYS, "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "Could not connect"),
        ({**KEYS, "AWS_ENDPOINT_URL": "no-url"}, "Invalid endpoint"),
        ({"AWS_PROFILE": "nobody"}, "could not be found"),
    ],
)
def test_without_an_answer_nothing_is_ok(environment: dict[str, str], why: str) -> None:
    code, checks = preflight(environment)
    assert set(of_the_account(checks).values()) == {"could not be checked"}
    assert all(why in check["detail"] for name, check in checks.items() if not name.endswith(OFFLINE))
    assert code == 6


class _Refusal(BaseHTTPRequestHandler):
    """Refuses everything, in the protocol that was spoken."""

    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        told = b'{"__type": "AccessDeniedException", "message": "not allowed"}'
        if "json" not in self.headers.get("Content-Type", "") and "X-Amz-Target" not in self.headers:
            told = (
                b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>not allowed</Message></Error></ErrorResponse>"
            )
        self.send_response(403)
        self.send_header("x-amzn-ErrorType", "AccessDeniedException")
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(told)

    do_GET = do_POST = do_HEAD = _refuse

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


def test_who_may_read_nothing_is_told_so_by_every_check() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        code, checks = preflight({**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}"})
    finally:
        server.shutdown()
    assert set(of_the_account(checks).values()) == {"could not be checked"}
    assert code == 6
