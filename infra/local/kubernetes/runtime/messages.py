"""Turns the runtime's objects into messages of the CRI, and applies the CRI's filters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.images import Image
from local.kubernetes.runtime.containers import Container
from local.kubernetes.runtime.sandboxes import Sandbox


def sandbox_state(sandbox: Sandbox) -> int:
    """A PodSandboxState."""
    return int(cri.SANDBOX_READY if sandbox.state == "ready" else cri.SANDBOX_NOTREADY)


def sandbox_item(sandbox: Sandbox) -> Any:
    """A PodSandbox, for lists."""
    return cri.PodSandbox(
        id=sandbox.id,
        metadata=sandbox.config.metadata,
        state=sandbox_state(sandbox),
        created_at=sandbox.created_at,
        labels=sandbox.config.labels,
        annotations=sandbox.config.annotations,
        runtime_handler=sandbox.handler,
    )


def sandbox_status(sandbox: Sandbox) -> Any:
    """A PodSandboxStatus."""
    return cri.PodSandboxStatus(
        id=sandbox.id,
        metadata=sandbox.config.metadata,
        state=sandbox_state(sandbox),
        created_at=sandbox.created_at,
        network=cri.PodSandboxNetworkStatus(ip="" if sandbox.address is None else str(sandbox.address)),
        linux=cri.LinuxPodSandboxStatus(
            namespaces=cri.Namespace(options=sandbox.config.linux.security_context.namespace_options)
        ),
        labels=sandbox.config.labels,
        annotations=sandbox.config.annotations,
        runtime_handler=sandbox.handler,
    )


def sandbox_matches(sandbox: Sandbox, wanted: Any) -> bool:
    """Whether a PodSandboxFilter lets it through."""
    return (
        sandbox.id.startswith(wanted.id)
        and (not wanted.HasField("state") or wanted.state.state == sandbox_state(sandbox))
        and _has_labels(sandbox.config.labels, wanted.label_selector)
    )


def container_item(container: Container) -> Any:
    """A Container, for lists."""
    return cri.Container(
        id=container.id,
        pod_sandbox_id=container.sandbox_id,
        metadata=container.config.metadata,
        image=container.config.image,
        image_ref=container.image_id,
        image_id=container.image_id,
        state=container.state,
        created_at=container.created_at,
        labels=container.config.labels,
        annotations=container.config.annotations,
    )


def container_status(container: Container, log_directory: str) -> Any:
    """A ContainerStatus."""
    end = container.end
    log_path = container.config.log_path
    status = cri.ContainerStatus(
        id=container.id,
        metadata=container.config.metadata,
        state=container.state,
        created_at=container.created_at,
        started_at=0 if container.process is None else container.process["started_at"],
        image=cri.ImageSpec(image=container.image_reference),
        image_ref=container.image_id,
        image_id=container.image_id,
        labels=container.config.labels,
        annotations=container.config.annotations,
        mounts=container.config.mounts,
        log_path=f"{log_directory.rstrip('/')}/{log_path}" if log_path and log_directory else "",
        stop_signal=container.config.stop_signal,
    )
    if container.config.linux.HasField("resources"):
        status.resources.linux.CopyFrom(container.config.linux.resources)
    if end is not None:
        # A container that could not be started has no start; the kubelet takes 0 as "long ago" and would show a running
        # time of decades.
        status.started_at = status.started_at or end["finished_at"]
        status.finished_at = end["finished_at"]
        status.exit_code = end["exit_code"]
        status.reason = end["reason"]
        status.message = end["message"]
    return status


def container_info(container: Container, folder: str) -> dict[str, str]:
    """What `crictl inspect` shows beside the status."""
    pid = container.process["pid"] if container.process is not None and container.running else 0
    return {"info": json.dumps({"pid": pid, "folder": folder, "image": container.image_name, "notes": container.notes})}


def container_matches(container: Container, wanted: Any) -> bool:
    """Whether a ContainerFilter lets it through."""
    return (
        container.id.startswith(wanted.id)
        and container.sandbox_id.startswith(wanted.pod_sandbox_id)
        and (not wanted.HasField("state") or wanted.state.state == container.state)
        and _has_labels(container.config.labels, wanted.label_selector)
    )


def image_item(image: Image, reference: str | None = None) -> Any:
    """An Image; `reference` is the name it was asked for by."""
    names = [reference] if reference and not reference.startswith("sha256:") else [f"{image.name}:latest"]
    message = cri.Image(id=image.id, repo_tags=names, size=image.size_bytes, spec=cri.ImageSpec(image=names[0]))
    user = image.config.user.partition(":")[0]
    if user.isdigit():
        message.uid.value = int(user)
    elif user:
        message.username = user
    return message


def _has_labels(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(key) == value for key, value in wanted.items())
