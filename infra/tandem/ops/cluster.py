"""What a site's Kubernetes shows: pods by role and colour, nodes by class, and the engines' own counters."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client, config

from tandem.errors import CloudUnavailable
from tandem.limits import ENGINE_PORT

NAMESPACE = "tandem"
KV_MOVED = "sglang:kv_transfer_total_mb_sum"
"""Sum of the histogram that prefill engines fill, in MB, one observation a request."""


@dataclass(frozen=True)
class PodState:
    """One pod of a triple."""

    name: str
    role: str
    colour: str
    pair_revision: str
    phase: str
    ready: bool
    restarts: int
    node: str | None
    reason: str | None
    """Why it is not ready, where Kubernetes says."""

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class Workload:
    """A Deployment, StatefulSet or DaemonSet."""

    namespace: str
    name: str
    wanted: int
    ready: int


class Cluster:
    """A site's API server, as a kubeconfig reaches it; methods raise `CloudUnavailable` when it does not answer."""

    def __init__(self, kubeconfig: Path) -> None:
        if not kubeconfig.exists():
            raise CloudUnavailable(f"{kubeconfig}: no such file - the cluster is not up. Run: tandem up")
        api = config.new_client_from_config(str(kubeconfig))
        api.configuration.retries = urllib3.Retry(total=1)
        self._core = client.CoreV1Api(api)
        self._apps = client.AppsV1Api(api)

    def pods(self) -> Sequence[PodState]:
        """All pods of all triples, by role."""
        found = self._ask(lambda: self._core.list_namespaced_pod(NAMESPACE, label_selector="tandem.dev/role"))
        return sorted((_pod(item) for item in found.items), key=lambda pod: (pod.colour, pod.role, pod.name))

    def nodes(self) -> Sequence[Mapping[str, Any]]:
        """Name, class, instance type, readiness and allocatable GPUs of every node."""
        found = self._ask(lambda: self._core.list_node())
        return [_node(item) for item in sorted(found.items, key=lambda node: str(node.metadata.name))]

    def workloads(self) -> Sequence[Workload]:
        """Every Deployment, StatefulSet and DaemonSet of every namespace."""
        replicated = [
            *self._ask(lambda: self._apps.list_deployment_for_all_namespaces()).items,
            *self._ask(lambda: self._apps.list_stateful_set_for_all_namespaces()).items,
        ]
        daemons = self._ask(lambda: self._apps.list_daemon_set_for_all_namespaces()).items
        return [
            *(_workload(item, item.spec.replicas, item.status.ready_replicas) for item in replicated),
            *(_workload(item, item.status.desired_number_scheduled, item.status.number_ready) for item in daemons),
        ]

    def kv_moved_bytes(self) -> int:
        """Bytes of KV cache that the ready prefill engines have pushed since they started."""
        total_mb = 0.0
        for pod in self.pods():
            if pod.role == "prefill" and pod.ready:
                text = self._metrics(pod.name)
                total_mb += sum(
                    float(value) for value in re.findall(rf"^{re.escape(KV_MOVED)}(?:\{{[^}}]*\}})? (\S+)", text, re.M)
                )
        return round(total_mb * 1e6)

    def _metrics(self, pod: str) -> str:
        """The engine's exposition text, through the API server: nothing of a worker is reachable from here."""
        proxy = self._core.connect_get_namespaced_pod_proxy_with_path
        answer = self._ask(lambda: proxy(f"{pod}:{ENGINE_PORT}", NAMESPACE, "metrics", _preload_content=False))
        return str(answer.data.decode())

    def _ask(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except (client.ApiException, urllib3.exceptions.HTTPError, OSError) as error:
            reason = getattr(error, "reason", None) or error
            raise CloudUnavailable(f"Kubernetes: {reason}") from error


def _workload(item: Any, wanted: int | None, ready: int | None) -> Workload:
    return Workload(item.metadata.namespace, item.metadata.name, wanted or 0, ready or 0)


def _pod(item: Any) -> PodState:
    labels = item.metadata.labels or {}
    statuses = item.status.container_statuses or []
    reasons = [
        state.waiting.reason if state.waiting else state.terminated.reason
        for status in statuses
        if (state := status.state) is not None and (state.waiting or state.terminated)
    ]
    conditions = {c.type: c for c in item.status.conditions or []}
    scheduled = conditions.get("PodScheduled")
    if scheduled is not None and scheduled.status != "True":
        reasons.append(scheduled.message)
    ready = conditions.get("Ready")
    return PodState(
        name=item.metadata.name,
        role=labels.get("tandem.dev/role", ""),
        colour=labels.get("tandem.dev/colour", ""),
        pair_revision=labels.get("tandem.dev/pair-revision", ""),
        phase="Terminating" if item.metadata.deletion_timestamp else item.status.phase,
        ready=ready is not None and ready.status == "True",
        restarts=sum(status.restart_count for status in statuses),
        node=item.spec.node_name,
        reason=next((reason for reason in reasons if reason), None),
    )


def _node(item: Any) -> Mapping[str, Any]:
    labels = item.metadata.labels or {}
    return {
        "name": item.metadata.name,
        "class": labels.get("tandem.dev/node-class"),
        "instance_type": labels.get("node.kubernetes.io/instance-type"),
        "ready": any(c.type == "Ready" and c.status == "True" for c in item.status.conditions or []),
        "gpus": int((item.status.allocatable or {}).get("nvidia.com/gpu", 0)),
    }
