"""What a node's runtime does with sandboxes and containers together; the gRPC services only translate to this."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.images import Images, UnknownImage
from local.kubernetes.runtime import limits, memory, messages
from local.kubernetes.runtime.containers import Container, Containers
from local.kubernetes.runtime.events import Events
from local.kubernetes.runtime.faults import RuntimeFault, not_possible_now
from local.kubernetes.runtime.launches import plan_launch
from local.kubernetes.runtime.network import Bridge
from local.kubernetes.runtime.sandboxes import Sandbox, Sandboxes
from local.kubernetes.runtime.shim import HEADER, REOPEN
from local.kubernetes.runtime.store import Store

log = logging.getLogger("pods")


class Pods:
    """All pods of one node."""

    def __init__(self, *, node: str, state: Path, subnet: IPv4Network, bridge: Bridge, images: Images) -> None:
        self._store = Store(state)
        self.images = images
        self.events = Events()
        self.sandboxes = Sandboxes(self._store, node, subnet, bridge)
        self.containers = Containers(self._store, self._tell)
        self._background: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Take over what runs, and watch over it. Raises OSError if the state cannot be used."""
        self._store.prepare()
        await self.containers.load()
        await self.sandboxes.load()
        for sandbox in self.sandboxes.all():
            if sandbox.state == "stopped":
                # Its network is gone, so what still runs in it can serve nobody.
                await self._stop_containers(sandbox, 0)
        self._background.append(asyncio.create_task(memory.enforce_limits(self.containers)))

    async def leave(self) -> None:
        """Stop watching. Pods go on."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    async def purge(self) -> None:
        """End and remove every pod. Raises RuntimeFault or OSError."""
        for sandbox in self.sandboxes.all():
            await self.remove_sandbox(sandbox.id)

    async def stop_sandbox(self, identifier: str) -> None:
        sandbox = self.sandboxes.find(identifier)
        if sandbox is None:
            return
        async with sandbox.lock:
            await self._stop_containers(sandbox, limits.SANDBOX_STOP_SECONDS)
            await self.sandboxes.stop(sandbox)

    async def remove_sandbox(self, identifier: str) -> None:
        sandbox = self.sandboxes.find(identifier)
        if sandbox is None:
            return
        async with sandbox.lock:
            for container in self.containers.of(sandbox):
                await self.containers.remove(container)
            await self.sandboxes.stop(sandbox)
            await self.sandboxes.forget(sandbox)

    async def create_container(self, sandbox_id: str, config: Any) -> Container:
        """Raises RuntimeFault, UnknownImage, MissingTool or OSError."""
        sandbox = self.sandboxes.get(sandbox_id)
        async with sandbox.lock:
            if sandbox.state != "ready":
                raise not_possible_now(
                    f"{sandbox.title}: its sandbox is not ready - no container can join it. Make another sandbox."
                )
            try:
                image = self.images.find(config.image.image)
            except UnknownImage:
                # An id of a definition that was changed since it was pulled: the name still says which.
                image = self.images.find(config.image.user_specified_image)
            self.images.require_built(image)
            return self.containers.create(
                sandbox,
                config,
                image,
                lambda: plan_launch(
                    image,
                    config,
                    sandbox.config,
                    hostname=self.sandboxes.hostname(sandbox),
                    network=None if sandbox.link is None else sandbox.link.file,
                    pod_files=self.sandboxes.pod_files(sandbox),
                    shm=self.sandboxes.shm(sandbox),
                ),
            )

    async def start_container(self, identifier: str) -> None:
        container = self.containers.get(identifier)
        sandbox = self.sandboxes.get(container.sandbox_id)
        if sandbox.state != "ready":
            raise not_possible_now(f"{container.title}: start - its sandbox is not ready. Make another sandbox.")
        # To its end even if the kubelet gives up: a half started container would be neither running nor ended.
        await asyncio.shield(self.containers.start(container))

    async def remove_container(self, identifier: str) -> None:
        container = self.containers.find(identifier)
        if container is not None:
            await self.containers.remove(container)

    async def reopen_log(self, identifier: str) -> None:
        """Have the container's log go on in a new file. Raises RuntimeFault."""
        container = self.containers.get(identifier)
        reader, writer = await self.connect_to_shim(container)
        try:
            writer.write(HEADER.pack(REOPEN, 0))
            while True:
                channel, length = HEADER.unpack(await reader.readexactly(HEADER.size))
                text = await reader.readexactly(length)
                if channel == REOPEN:
                    break
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise not_possible_now(f"{container.title}: reopen log - it has just ended") from error
        finally:
            writer.close()
        if text:
            raise RuntimeFault(f"{container.title}: reopen log - {text.decode(errors='replace')}")

    async def connect_to_shim(self, container: Container) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the shim of a running container. Raises RuntimeFault."""
        if not container.running:
            raise not_possible_now(f"{container.title}: it does not run, so its streams are closed. Its log remains.")
        folder = os.open(self.containers.folder(container), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # Through /proc: the full path may be longer than a socket's address.
            return await asyncio.open_unix_connection(f"/proc/self/fd/{folder}/shim.sock")
        except OSError as error:
            raise not_possible_now(f"{container.title}: its shim does not answer: {error.strerror}") from error
        finally:
            os.close(folder)

    def log_directory(self, container: Container) -> str:
        """The pod's, from its sandbox."""
        sandbox = self.sandboxes.find(container.sandbox_id)
        return "" if sandbox is None else str(sandbox.config.log_directory)

    def status_of(self, container: Container) -> Any:
        """A ContainerStatus."""
        return messages.container_status(container, self.log_directory(container))

    def info_of(self, container: Container) -> dict[str, str]:
        return messages.container_info(container, str(self.containers.folder(container)))

    async def _stop_containers(self, sandbox: Sandbox, grace_seconds: float) -> None:
        await asyncio.gather(
            *(self.containers.stop(container, grace_seconds) for container in self.containers.of(sandbox))
        )

    def _tell(self, container: Container, kind: int) -> None:
        end = container.end
        note = "" if end is None else json.dumps(end)
        log.info("%s %s %s", cri.ContainerEventType.Name(kind), container.title, note)
        event = cri.ContainerEventResponse(
            container_id=container.id, container_event_type=kind, created_at=time.time_ns()
        )
        sandbox = self.sandboxes.find(container.sandbox_id)
        if sandbox is not None:
            event.pod_sandbox_status.CopyFrom(messages.sandbox_status(sandbox))
            event.containers_statuses.extend(self.status_of(each) for each in self.containers.of(sandbox))
        self.events.tell(event)
