"""Runs a real environment's own stack files, all of its regions, on the local cloud, before anyone spends money on them.

AWS, load balancers and GPUs are simulated, engines are played by `engine-sim`. Order, outputs, names, sizes and the Kubernetes side are
real. The rehearsal has a state of its own, so that it touches neither the account nor a local site that runs beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.environment import Doors, Environment, LocalCloud
from tandem.errors import CloudUnavailable, TandemError
from tandem.ops import bring_up, local_cloud, peering, preview, project, protection, shell, take_down
from tandem.ops import environment as environments
from tandem.ops.cluster import Cluster
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.progress import Progress

DOORS = Doors(edge=28443, kubernetes=26443, aws=24566)
"""Beside those of a local site. Further regions take the ports after these."""
PLAYED_BY = {"sglang": "engine-sim"}
"""No GPU is here for the real engine."""
READY_SECONDS = 300
"""How long every workload may take to be ready after its stack is: pods start one by one on a small machine."""
POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Finding:
    """One thing that the rehearsal looked at."""

    name: str
    holds: bool
    detail: str


@dataclass(frozen=True)
class Rehearsal:
    """What a rehearsal showed."""

    report: bring_up.Report
    findings: tuple[Finding, ...]
    destroyed: Mapping[str, Any] | None
    """None where it was kept."""

    @property
    def holds(self) -> bool:
        """Whether everything that was looked at is as the stack files say."""
        return all(finding.holds for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            **self.report.as_dict(),
            "holds": self.holds,
            "findings": [asdict(finding) for finding in self.findings],
            "cost": self.report.cost.as_dict(),
            "destroyed": self.destroyed,
        }

    def as_text(self) -> str:
        """For a person: the report at the end."""
        report = self.report
        lines = ["", f"rehearsal of {report.environment} (simulated: {'; '.join(bring_up.SIMULATED)})", ""]
        lines += [f"  {'ok   ' if f.holds else 'FAILS'} {f.name}: {f.detail}" for f in self.findings]
        lines += ["", "  resources"]
        lines += [f"    {stack:<24} {_counted(changes)}" for stack, changes in report.changes.items()]
        lines += ["", f"  on AWS {report.cost.as_line()}"]
        lines += [
            f"    {part.stack:<24} {part.count:>3} x {part.name:<34} {part.usd_per_hour:>9.2f} $/h"
            for part in report.cost.parts
        ]
        left = (
            "everything was destroyed again"
            if self.destroyed is not None
            else f"still up; take it away: tandem rehearse {report.environment} --down"
        )
        return "\n".join([*lines, "", f"  {left}"])


def own_state(environment: str) -> None:
    """Give this process the rehearsal's own state folder, before anything is read from it."""
    os.environ["TANDEM_STATE"] = str(shell.state_folder() / f"rehearse-{environment}")


def on_this_machine(environment: LoadedEnvironment) -> LoadedEnvironment:
    """The environment with the local cloud below it. Raises `TandemError` for one that has it anyway."""
    if isinstance(environment.settings.cloud, LocalCloud):
        raise TandemError(
            f"environment {environment.name}: runs on this machine as it is - a rehearsal is for a real one. "
            f"Run: tandem up {environment.name}"
        )
    cloud = LocalCloud(
        kind="local",
        doors=DOORS,
        node_start_delay_seconds=0,
        acts_as=_administrator(environment),
        hosted_zones=_hosted_zones(environment),
        images_as=PLAYED_BY,
    )
    below = replace(environment, settings=environments.with_doors(Environment(cloud=cloud)))
    return project.apart(below, shell.state_folder() / "project")


def _administrator(environment: LoadedEnvironment) -> str:
    """A role that may administer every cluster of the environment; empty if no role may, and then the clusters refuse."""
    clusters = [stack for stack in environment.stacks.values() if isinstance(stack, ClusterStack)]
    admitted = [{arn for arn in stack.administrators if ":role/" in arn} for stack in clusters]
    return min(set.intersection(*admitted), default="").rpartition("/")[2] if admitted else ""


def _hosted_zones(environment: LoadedEnvironment) -> dict[str, str]:
    """Zones that edge stacks name; the account has them before any stack."""
    edges = (stack for stack in environment.stacks.values() if isinstance(stack, EdgeStack))
    # The domain's parent: a zone for the domain itself would do as well, and the files do not tell.
    return {edge.hosted_zone.zone_id: edge.domain.partition(".")[2] for edge in edges if edge.hosted_zone}


def run(environment: LoadedEnvironment, progress: Progress, *, keep: bool = False) -> Rehearsal:
    """Up, look, down. `environment` is one that `on_this_machine` gave. Raises `TandemError`; with `keep` what stands then stays."""
    try:
        report = bring_up.run(environment, progress)
        findings = tuple(_look(environment, progress))
    except TandemError:
        if not keep:
            end(environment, progress)
        raise
    return Rehearsal(report, findings, None if keep else end(environment, progress))


def end(environment: LoadedEnvironment, progress: Progress) -> Mapping[str, Any]:
    """Destroy everything, also what a real environment protects from that. Raises `Incomplete`."""
    if local_cloud.status()["running"]:
        protection.lift(environment, progress)
    return take_down.run(environment, progress)


def _look(environment: LoadedEnvironment, progress: Progress) -> Iterator[Finding]:
    kubeconfigs = local_cloud.status()["kubeconfigs"]
    for stack, config in environment.stacks.items():
        if isinstance(config, ClusterStack):
            cluster = Cluster(Path(kubeconfigs[config.site.region]))
            progress.say(stack, "waiting for every node and workload")
            yield _awaited(f"{stack}: nodes", lambda cluster=cluster, config=config: nodes(cluster.nodes(), config))  # type: ignore[misc]
            yield _awaited(f"{stack}: workloads", lambda cluster=cluster: workloads(cluster))  # type: ignore[misc]
    yield from (Finding(name, holds, detail) for name, holds, detail in peering.routes(environment))
    progress.say(environment.name, "previewing again")
    try:
        preview.run(environment, progress, expect_no_changes=True)
    except TandemError as error:
        yield Finding("a second preview", False, str(error))
    else:
        yield Finding("a second preview", True, "changes nothing")


def nodes(found: Sequence[Mapping[str, Any]], stack: ClusterStack) -> tuple[bool, str]:
    """Whether the cluster has as many ready nodes of each type as its stack file says."""
    wanted: dict[tuple[str, str], int] = {}
    for group in stack.node_groups.values():
        kind = (group.node_class.value, group.instance_type)
        wanted[kind] = wanted.get(kind, 0) + group.nodes
    ready = {kind: sum(1 for n in found if n["ready"] and (n["class"], n["instance_type"]) == kind) for kind in wanted}
    told = ", ".join(f"{ready[kind]} of {count} {kind[0]} {kind[1]}" for kind, count in sorted(wanted.items()))
    return ready == wanted and len(found) == sum(wanted.values()), f"{told} ready"


def workloads(cluster: Cluster) -> tuple[bool, str]:
    """Whether every workload of the cluster has all of its replicas ready."""
    found = cluster.workloads()
    late = [f"{w.namespace}/{w.name} {w.ready} of {w.wanted}" for w in found if w.ready != w.wanted]
    told = f"{', '.join(late)} ready" if late else f"all {len(found)} ready"
    return not late, told


def _awaited(name: str, look: Callable[[], tuple[bool, str]]) -> Finding:
    """Looks until it holds, for READY_SECONDS."""
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            holds, detail = look()
        except CloudUnavailable as error:
            holds, detail = False, str(error)
        if holds or time.monotonic() > deadline:
            return Finding(name, holds, detail)
        time.sleep(POLL_SECONDS)


def _counted(changes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {operation}" for operation, count in sorted(changes.items())) or "nothing"
