"""The environment of the real engine: large, so made only for the long tests and by `make engine`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from local.kubernetes.images import Image, Images, build

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def image() -> Image:
    """`images/sglang-cpu` with its environment there."""
    images = Images(ROOT / "images")
    build(images.load("sglang-cpu"), lambda line: print(line, flush=True))
    return images.load("sglang-cpu")


@pytest.fixture(scope="session")
def real_parser(image: Image) -> Callable[[list[list[str]]], dict[str, Any]]:
    """Gives command lines to SGLang's own parser."""

    def run(lines: list[list[str]]) -> dict[str, Any]:
        done = subprocess.run(
            [image.venv / "bin" / "python", ROOT / "tests" / "images" / "sglang_cpu" / "real_parser.py"],
            input=json.dumps(lines),
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | image.config.env | {"PYTHONPATH": str(image.folder)},
        )
        assert done.returncode == 0, done.stderr[-3000:]
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    return run
