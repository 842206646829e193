"""What stands: the cloud below, the stacks, the nodes, the triples; and what happened to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tandem.config.environment import LocalCloud
from tandem.errors import CloudUnavailable
from tandem.ops import local_cloud, prove, shell
from tandem.ops.cluster import Cluster
from tandem.ops.engine import Engine
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.progress import Progress

EVENTS_SHOWN = 12
NEVER_APPLIED: Mapping[str, Any] = {"resources": 0, "updated": None, "in_progress": False}


def observe(environment: LoadedEnvironment) -> dict[str, Any]:
    """Everything, as JSON-ready values. `serving` is True when each role of some colour has a ready pod."""
    cloud = environment.settings.cloud
    local = local_cloud.status() if isinstance(cloud, LocalCloud) else None
    engine = Engine(shell.variables(environment), Progress(quiet=True), environment.project)
    recorded = engine.recorded()
    report: dict[str, Any] = {
        "environment": environment.name,
        "stacks": {stack: recorded.get(stack, NEVER_APPLIED) for stack in environment.stacks},
        "address": str(prove.address(environment)),
        "local_cloud": local,
        "nodes": [],
        "pods": [],
        "unreachable": None,
    }
    if local is None or local["running"]:
        try:
            cluster = Cluster(prove.kubeconfig())
            report["nodes"] = list(cluster.nodes())
            report["pods"] = [pod.as_dict() for pod in cluster.pods()]
        except CloudUnavailable as error:
            report["unreachable"] = str(error)
    report["serving"] = _serves(report["pods"])
    return report


def _serves(pods: list[Mapping[str, Any]]) -> bool:
    ready: dict[str, set[str]] = {}
    for pod in pods:
        if pod["ready"]:
            ready.setdefault(pod["colour"], set()).add(pod["role"])
    return any(roles >= {"gateway", "prefill", "decode"} for roles in ready.values())


def as_text(report: Mapping[str, Any]) -> str:
    """For a person."""
    lines = [f"{report['environment']}: {'serves' if report['serving'] else 'does NOT serve'} at {report['address']}"]
    for stack, summary in report["stacks"].items():
        doing = " (being updated)" if summary["in_progress"] else ""
        lines.append(
            f"  stack  {stack:<20} {summary['resources']:>4} resources, {summary['updated'] or 'never applied'}{doing}"
        )
    for node in report["nodes"]:
        gpus = f", {node['gpus']} GPUs (simulated)" if node["gpus"] else ""
        state = "ready" if node["ready"] else "NOT ready"
        lines.append(f"  node   {node['name']} {node['class']} {node['instance_type']}{gpus}: {state}")
    for pod in report["pods"]:
        state = "ready" if pod["ready"] else f"NOT ready: {pod['reason'] or pod['phase']}"
        again = f", {pod['restarts']} restarts" if pod["restarts"] else ""
        lines.append(f"  pod    {pod['colour']} {pod['role']:<8} {pod['name']}: {state}{again}")
    if report["unreachable"]:
        lines.append(f"  Kubernetes cannot be asked: {report['unreachable']}")
    return "\n".join([*lines, *_local_lines(report["local_cloud"])])


def _local_lines(local: Mapping[str, Any] | None) -> list[str]:
    if local is None:
        return []
    if not local["running"]:
        return ["  local cloud is not running. Run: tandem up local"]
    lines = []
    for process in local.get("processes", ()):
        again = f", {process['restarts']} restarts" if process["restarts"] else ""
        lines.append(f"  local  {process['name']:<28} {process['state']}, pid {process['pid']}{again}")
    recorded = local.get("recorded_only", ())
    if recorded:
        lines.append(f"  {len(recorded)} AWS resources are recorded only, since moto lacks their kind (simulated):")
        lines += [f"    {item}" for item in recorded]
    events = local.get("events", ())
    if events:
        lines.append("  what happened:")
        lines += [f"    {_event(event)}" for event in events[-EVENTS_SHOWN:]]
    return lines


def _event(event: Any) -> str:
    if isinstance(event, Mapping):
        return " ".join(str(value) for value in event.values())
    return str(event)
