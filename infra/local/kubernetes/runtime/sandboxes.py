"""Sandboxes: a pod's network, host name and shared memory, which its containers join."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any, Literal

from google.protobuf import json_format

from local import linux
from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.runtime import limits, network
from local.kubernetes.runtime.addresses import next_address
from local.kubernetes.runtime.faults import not_found, refused
from local.kubernetes.runtime.launch import Bind
from local.kubernetes.runtime.store import Store

State = Literal["creating", "ready", "stopped"]

POD_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")


@dataclass
class Sandbox:
    """One pod's sandbox."""

    id: str
    config: Any
    """PodSandboxConfig."""
    created_at: int
    """Nanoseconds since 1970."""
    handler: str = ""
    address: IPv4Address | None = None
    """None: the pod uses the node's own network."""
    state: State = "creating"
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def link(self) -> network.Link | None:
        return None if self.address is None else network.Link.of(self.id, self.address)

    @property
    def title(self) -> str:
        """How errors name it."""
        return f"pod {self.config.metadata.namespace}/{self.config.metadata.name}"

    def as_record(self) -> dict[str, Any]:
        return {
            "config": json_format.MessageToDict(self.config, preserving_proto_field_name=True),
            "created_at": self.created_at,
            "handler": self.handler,
            "address": None if self.address is None else str(self.address),
            "state": self.state,
        }

    @staticmethod
    def from_record(identifier: str, record: dict[str, Any]) -> Sandbox:
        config = json_format.ParseDict(record["config"], cri.PodSandboxConfig(), ignore_unknown_fields=True)
        address = None if record["address"] is None else IPv4Address(record["address"])
        return Sandbox(identifier, config, int(record["created_at"]), str(record["handler"]), address, record["state"])


class Sandboxes:
    """All sandboxes of a node."""

    def __init__(self, store: Store, node: str, subnet: IPv4Network, bridge: network.Bridge) -> None:
        self._store = store
        self._node = node
        self._subnet = subnet
        self._bridge = bridge
        self._all: dict[str, Sandbox] = {}

    async def load(self) -> None:
        """Take over what an earlier runtime left. A sandbox whose network is gone is stopped: the kubelet makes
        another."""
        for identifier, record in self._store.load("sandboxes"):
            sandbox = Sandbox.from_record(identifier, record)
            self._all[identifier] = sandbox
            if sandbox.state == "creating":
                # Nobody has learnt of it.
                await self._tear_down(sandbox)
                await self.forget(sandbox)
            elif sandbox.state == "ready":
                if sandbox.link is not None and not await network.is_connected(sandbox.link, self._bridge):
                    await self._tear_down(sandbox)
                    self._set_state(sandbox, "stopped")
                else:
                    self._mount_shm(sandbox)

    def all(self) -> list[Sandbox]:
        """Every sandbox that a call has told of."""
        return [sandbox for sandbox in self._all.values() if sandbox.state != "creating"]

    def get(self, identifier: str) -> Sandbox:
        """Raises RuntimeFault NOT_FOUND."""
        try:
            return self._all[identifier]
        except KeyError:
            raise not_found("sandbox", identifier) from None

    def find(self, identifier: str) -> Sandbox | None:
        return self._all.get(identifier)

    def folder(self, sandbox: Sandbox) -> Path:
        return self._store.folder("sandboxes", sandbox.id)

    def shm(self, sandbox: Sandbox) -> Path:
        return self.folder(sandbox) / "shm"

    def pod_files(self, sandbox: Sandbox) -> list[Bind]:
        """Name resolution and host name, as files to bind into each container."""
        folder = self.folder(sandbox)
        return [{"source": str(folder / Path(path).name), "target": path, "readonly": False} for path in POD_FILES]

    def hostname(self, sandbox: Sandbox) -> str:
        """At most 64 bytes, as the kernel wants it; the node's own in the node's network."""
        name = sandbox.config.hostname if sandbox.address is not None else self._node
        return str(name or sandbox.config.metadata.name)[:63].rstrip("-.")

    async def create(self, config: Any, handler: str) -> Sandbox:
        """Make a sandbox that is ready. Raises RuntimeFault or OSError, and then there is none."""
        _check(config, handler)
        sandbox = Sandbox(self._store.new_id(), config, time.time_ns(), handler)
        async with sandbox.lock:
            if config.linux.security_context.namespace_options.network != cri.NODE:
                sandbox.address = self._take_address()
            # In the table at once, so that no other pod gets the address while this one is being made.
            self._all[sandbox.id] = sandbox
            try:
                self._store.save("sandboxes", sandbox.id, sandbox.as_record())
                if sandbox.address is not None:
                    self._store.last_address = str(sandbox.address)
                self._write_pod_files(sandbox)
                self._mount_shm(sandbox)
                if sandbox.link is not None:
                    sysctls = {key: value for key, value in config.linux.sysctls.items() if key.startswith("net.")}
                    await network.connect(sandbox.link, self._bridge, sysctls)
                self._set_state(sandbox, "ready")
            except BaseException:
                # Cancelled too: the kubelet gave up waiting and will ask for another one.
                await asyncio.shield(self._abandon(sandbox))
                raise
        return sandbox

    async def stop(self, sandbox: Sandbox) -> None:
        """Take it from the network; its containers must have ended. Its address stays taken until it is removed."""
        await self._tear_down(sandbox)
        self._set_state(sandbox, "stopped")

    async def forget(self, sandbox: Sandbox) -> None:
        """Remove a stopped sandbox and give its address back. Raises OSError."""
        self._unmount_shm(sandbox)
        await self._store.remove("sandboxes", sandbox.id)
        self._all.pop(sandbox.id, None)

    async def _abandon(self, sandbox: Sandbox) -> None:
        await self._tear_down(sandbox)
        await self.forget(sandbox)

    async def _tear_down(self, sandbox: Sandbox) -> None:
        if sandbox.link is not None:
            await network.disconnect(sandbox.link)

    def _set_state(self, sandbox: Sandbox, state: State) -> None:
        before = sandbox.state
        sandbox.state = state
        try:
            self._store.save("sandboxes", sandbox.id, sandbox.as_record())
        except OSError:
            sandbox.state = before
            raise

    def _take_address(self) -> IPv4Address:
        taken = {sandbox.address for sandbox in self._all.values() if sandbox.address is not None}
        last = self._store.last_address
        return next_address(self._subnet, taken, None if last is None else IPv4Address(last), (self._bridge.gateway,))

    def _write_pod_files(self, sandbox: Sandbox) -> None:
        folder, name = self.folder(sandbox), self.hostname(sandbox)
        dns = sandbox.config.dns_config
        hosts = ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"]
        if sandbox.address is not None:
            hosts.append(f"{sandbox.address}\t{name}")
        resolver = [f"nameserver {server}" for server in dns.servers]
        if dns.searches:
            resolver.append(f"search {' '.join(dns.searches)}")
        if dns.options:
            resolver.append(f"options {' '.join(dns.options)}")
        for path, lines in zip(POD_FILES, (hosts, [name], resolver), strict=True):
            file = folder / Path(path).name
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            file.chmod(0o644)

    def _mount_shm(self, sandbox: Sandbox) -> None:
        folder = self.shm(sandbox)
        folder.mkdir(exist_ok=True)
        if not folder.is_mount():
            options = f"mode=1777,size={limits.SHM_BYTES}"
            linux.mount("shm", str(folder), "tmpfs", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC, options)

    def _unmount_shm(self, sandbox: Sandbox) -> None:
        if self.shm(sandbox).is_mount():
            linux.unmount(str(self.shm(sandbox)))


def _check(config: Any, handler: str) -> None:
    """Refuse what the simulation cannot do, rather than do something else."""
    title = f"pod {config.metadata.namespace}/{config.metadata.name}"
    if handler:
        raise refused(
            f"{title}: runtime handler {handler} - this runtime has only the default one. Drop runtimeClassName."
        )
    options = config.linux.security_context.namespace_options
    if options.HasField("userns_options") and options.userns_options.mode == cri.POD:
        raise refused(f"{title}: hostUsers: false - the local runtime makes no user namespaces. Leave hostUsers out.")
    if options.pid != cri.CONTAINER:
        raise refused(
            f"{title}: hostPID or shareProcessNamespace - each container here has processes of its own, "
            "which is how all of them are ended with it. Leave both out."
        )
    if any(port.host_port for port in config.port_mappings) and options.network != cri.NODE:
        raise refused(
            f"{title}: hostPort - the local runtime maps no ports of the node. Use a Service, or hostNetwork."
        )
