from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from local.kubernetes.images import Images, build


def _load(name: str) -> ModuleType:
    # Tests are imported by file, without packages: a helper beside them has to be, too.
    specification = importlib.util.spec_from_file_location(name, Path(__file__).parent / "node.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


node_module = _load("runtime_test_node")


def why_no_world() -> str:
    """Why this machine cannot run these tests; empty if it can."""
    if not sys.platform.startswith("linux"):
        return "needs Linux"
    for tool in ("unshare", "ip", "ps"):
        if shutil.which(tool) is None:
            return f"needs {tool}"
    tried = subprocess.run(
        [*node_module.world_command(user=False), "true"], capture_output=True, text=True, check=False
    )
    return f"unshare is refused: {tried.stderr.strip()}" if tried.returncode else ""


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    definitions = {
        "shell": 'FROM debian:12\nENV GREETING="hello world"\nENTRYPOINT ["/bin/sh"]\nCMD ["-c", "echo from CMD"]\n',
        "python": (
            "FROM python:3.11-slim\nENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1\nWORKDIR /opt/app\n"
            'USER 10001:10002\nENTRYPOINT ["python"]\n'
        ),
        "unbuilt": 'FROM debian:12\nENTRYPOINT ["/bin/sh"]\n',
    }
    for name, text in definitions.items():
        (folder / name).mkdir()
        (folder / name / "Containerfile").write_text(text)
    (folder / "python" / "program.py").write_text("print('program')\n")
    return folder


@pytest.fixture(scope="session")
def cache(images: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    known = Images(images, folder)
    for name in ("shell", "python"):
        build(known.load(name), lambda line: None)
    return folder


@pytest.fixture(scope="session")
def world() -> Iterator[object]:
    if reason := why_no_world():
        pytest.skip(reason)
    world = node_module.World()
    yield world
    world.close()


@pytest.fixture(scope="module")
def node(world: object, images: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A runtime that the tests of one file share."""
    node = node_module.Node(world, tmp_path_factory.mktemp("node"), images, cache)
    yield node
    for sandbox in node.runtime.ListPodSandbox(node_module.cri.ListPodSandboxRequest()).items:
        node.remove_sandbox(sandbox.id)
    node.stop(15)


@pytest.fixture
def own_node(world: object, images: Path, cache: Path, tmp_path: Path) -> Iterator[object]:
    """A runtime of the test's own, which it may kill."""
    node = node_module.Node(world, tmp_path, images, cache, subnet="10.200.200.0/29")
    yield node
    for sandbox in node.runtime.ListPodSandbox(node_module.cri.ListPodSandboxRequest()).items:
        node.remove_sandbox(sandbox.id)
    node.stop(15)


assert os.name == "posix"
