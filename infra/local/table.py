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
from local.regions import in_order
from local.settings import Settings


def python(module: str, *arguments: str) -> tuple[str, ...]:
    """The command line of one of our own processes."""
    return (sys.executable, "-m", module, *arguments)


def static_rows(settings: Settings, doors: DoorMap, paths: LocalPaths) -> list[Process]:
    """All rows but those of nodes. `paths` are the ones inside.

    Raises MissingTool if the toolchain is not built.
    """
    aws_url = f"http://{limits.AWS_ADDRESS}:{limits.AWS_PORT}"
    regions = in_order(settings.regions)
    clusters = tuple(
        word
        for region in regions
        for word in (
            *("--cluster", f"{region.name}=https://127.0.0.1:{doors.port(region.named('kubernetes'))}"),
            *("--cluster-ca", f"{region.name}={paths.of(region).pki / 'ca.crt'}"),
        )
    )
    rows = [
        Process(
            "doors",
            python("local.doors", "--doors", json.dumps(doors.as_json()), *settings.regions),
            descriptors=doors.descriptors,
        ),
        Process(
            "aws",
            python(
                "local.aws.server",
                *("--host", str(limits.AWS_ADDRESS)),
                *("--port", str(limits.AWS_PORT)),
                *("--journal", str(paths.aws)),
                *("--account", settings.account_id),
                *clusters,
                *(word for zone in settings.hosted_zones.items() for word in ("--hosted-zone", "=".join(zone))),
            ),
            ready=Ready("http", f"{aws_url}/moto-api/"),
            after=tuple(region.named("certificates") for region in regions),
        ),
        Process("routes", python("local.routes", "--aws", aws_url, *settings.regions), after=("aws",)),
    ]
    binaries = find_binaries(settings)
    for region in regions:
        own = paths.of(region)
        after = ("aws", region.named("kube-apiserver"))
        rows += control_plane.rows(binaries, own, region, doors.port(region.named("kubernetes")))
        rows += [
            Process(
                region.named("nodes"),
                python("local.kubernetes.nodes", "--aws", aws_url, "--region", region.name),
                after=after,
                network=str(region.network_file),
            ),
            Process(
                region.named("edge"),
                python(
                    "local.edge",
                    *("--aws", aws_url),
                    *("--region", region.name),
                    *("--kubeconfig", str(own.kubeconfig_inside)),
                    *("--pki", str(own.pki)),
                    *("--control", f"{region.address}:{limits.EDGE_CONTROL_PORT}"),
                ),
                ready=Ready("tcp", f"{region.address}:{limits.EDGE_CONTROL_PORT}"),
                after=after,
                network=str(region.network_file),
            ),
        ]
    return rows
