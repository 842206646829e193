"""A local AWS server for the session, and a provider that is configured for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.aws.provider_driver import Driver
from tests.local.aws.server_process import HOSTED_ZONE, ServerProcess


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """An empty local AWS of the test module."""
    folder: Path = tmp_path_factory.mktemp("local")
    with ServerProcess(folder / "aws", "--hosted-zone", f"{HOSTED_ZONE}=example.com") as process:
        yield process


@pytest.fixture
def driver(server: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """A provider that has default tags."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    return Driver(defaultTags='{"tags": {"owner": "tandem"}}')
