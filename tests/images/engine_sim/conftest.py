"""Simulated engines on loopback, started as the image starts them, with the image's own environment."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from local.kubernetes.images import Images

IMAGES = Path(__file__).resolve().parents[3] / "images"
KEY, ADMIN = "client-key", "admin-key"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@dataclass
class Sim:
    """One engine."""

    process: subprocess.Popen[str]
    port: int
    bootstrap: int
    log: Path

    def ask(self, path: str, body: Any = None, key: str | None = KEY, method: str | None = None) -> tuple[int, str]:
        """(status, body)."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if key is not None:
            request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


@pytest.fixture
def sim(tmp_path: Path) -> Iterator[Callable[..., Sim]]:
    """Starts an engine and returns when it says that it is ready."""
    python = Images(IMAGES).load("engine-sim").venv / "bin" / "python"
    started: list[Sim] = []

    def start(mode: str, *flags: str, **environment: str) -> Sim:
        port, bootstrap = free_port(), free_port()
        log = tmp_path / f"{mode}-{port}.log"
        command = [str(python), "-m", "engine_sim", "--model-path", "/weights/m", "--served-model-name", "demo"]
        command += ["--host", "127.0.0.1", "--port", str(port), "--enable-metrics"]
        command += ["--api-key", KEY, "--admin-api-key", ADMIN, "--dtype", "bfloat16", "--kv-cache-dtype", "bfloat16"]
        if mode != "null":
            command += ["--disaggregation-mode", mode, "--disaggregation-transfer-backend", "mooncake_tcp"]
            command += ["--disaggregation-bootstrap-port", str(bootstrap)]
        variables = {"SGLANG_HOST_IP": "127.0.0.1", "TANDEM_SIM_SPEED": "1000", "PYTHONUNBUFFERED": "1", **environment}
        process = subprocess.Popen(
            [*command, *flags],
            cwd=IMAGES / "engine-sim",
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
        )
        assert process.stdout is not None
        for line in process.stdout:
            if "ready to roll" in line:
                break
        else:
            pytest.fail(f"the engine ended with {process.wait()}: {log.read_text()[-2000:]}")
        started.append(Sim(process, port, bootstrap, log))
        return started[-1]

    yield start
    for engine in started:
        engine.process.kill()
        engine.process.wait()


@dataclass
class Pair:
    """A prefill and a decode, asked as the gateway asks them: the same body to both at once."""

    prefill: Sim
    decode: Sim
    room: int = 0

    def chat(self, prompt: str, **more: Any) -> tuple[tuple[int, str], tuple[int, str]]:
        """((status, body) of prefill, of decode)."""
        self.room += 1
        body = {
            "model": "demo",
            "messages": [{"role": "user", "content": prompt}],
            "max_tokens": 8,
            "bootstrap_host": "127.0.0.1",
            "bootstrap_port": self.prefill.bootstrap,
            "bootstrap_room": self.room,
            **more,
        }
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(engine.ask, "/v1/chat/completions", body) for engine in (self.prefill, self.decode)]
            return both[0].result(), both[1].result()
