"""The rows that every local cloud runs from its start."""

from __future__ import annotations

import json
import sys

from local import limits
from local.binaries import find_binaries
from local.doors import DoorMap
from local.kubernetes import control_plane
from local.paths import LocalPaths
from local.processes import Process, Ready
from local.settings import Settings


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """The command line of one of our own processes."""
    return (sys.executable, "-m", module, *arguments)


def static_rows(settings: Settings, doors: DoorMap, paths: LocalPaths) -> list[Process]:
    """All rows but those of nodes. `paths` are the ones inside.

    Raises MissingTool if the toolchain is not built.
    """
    aws_url = f"http://{limits.GATEWAY}:{limits.AWS_PORT}"
    return [
        Process("doors", python("local.doors", "--doors", json.dumps(doors.as_json())), descriptors=doors.descriptors),
        Process(
            "aws",
            python(
                "local.aws.server",
                *("--host", str(limits.GATEWAY)),
                *("--port", str(limits.AWS_PORT)),
                *("--journal", str(paths.aws)),
                *("--cluster-endpoint", f"https://127.0.0.1:{doors.port('kubernetes')}"),
                *("--cluster-ca", str(paths.pki / "ca.crt")),
            ),
            ready=Ready("http", f"{aws_url}/moto-api/"),
            after=("certificates",),
        ),
        *control_plane.rows(find_binaries(settings), paths, doors.port("kubernetes")),
        Process(
            "nodes",
            python("local.kubernetes.nodes", "--aws", aws_url),
            after=("aws", "kube-apiserver"),
        ),
        Process(
            "edge",
            python(
                "local.edge",
                *("--aws", aws_url),
                *("--kubeconfig", str(paths.kubeconfig_inside)),
                *("--pki", str(paths.pki)),
                *("--control", f"{limits.GATEWAY}:{limits.EDGE_CONTROL_PORT}"),
            ),
            ready=Ready("tcp", f"{limits.GATEWAY}:{limits.EDGE_CONTROL_PORT}"),
            after=("aws", "kube-apiserver"),
        ),
    ]
