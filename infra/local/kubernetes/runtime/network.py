"""Connects pods to the node's bridge: a named network namespace and a veth pair for each."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import TypeVar

from local import linux
from local.kubernetes.runtime.addresses import hardware_address
from local.kubernetes.runtime.faults import RuntimeFault

NAMESPACES = Path("/run/netns")
"""Where `ip netns` keeps them."""

_IP_ENVIRONMENT = {"PATH": f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin", "LC_ALL": "C"}
"""An ordinary user's PATH often lacks the folder that `ip` is in."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Bridge:
    """What pods are connected to."""

    name: str
    gateway: IPv4Address
    """Default route of the pods, and the bridge's own address."""


@dataclass(frozen=True)
class Link:
    """A pod's connection: everything in it follows from the sandbox's id and address."""

    namespace: str
    host_end: str
    address: IPv4Address

    @staticmethod
    def of(sandbox_id: str, address: IPv4Address) -> Link:
        # An interface name has 15 bytes at most.
        return Link(f"pod-{sandbox_id[:20]}", f"veth{sandbox_id[:11]}", address)

    @property
    def file(self) -> Path:
        return NAMESPACES / self.namespace


async def connect(link: Link, bridge: Bridge, sysctls: Mapping[str, str]) -> None:
    """Make the namespace and connect it. Raises RuntimeFault with the words of `ip`; `disconnect` undoes what was
    done by then."""
    prefix, mtu = await _bridge_shape(bridge)
    mac = hardware_address(link.address)
    await _ip("netns", "add", link.namespace)
    await _ip(
        "-batch",
        "-",
        script=(
            f"link add {link.host_end} mtu {mtu} type veth "
            f"peer name eth0 mtu {mtu} address {mac} netns {link.namespace}",
            # hairpin: a pod that calls its own Service gets its packet back on the port it came from.
            f"link set {link.host_end} master {bridge.name} up",
            f"link set {link.host_end} type bridge_slave hairpin on",
        ),
    )
    await _ip(
        "-n",
        link.namespace,
        "-batch",
        "-",
        script=(
            "link set lo up",
            f"address add {link.address}/{prefix} broadcast + dev eth0",
            "link set eth0 up",
            f"route add default via {bridge.gateway}",
        ),
    )
    # Ports below 1024 are free to every user of a pod, as in other runtimes.
    settings = {"net.ipv4.ip_unprivileged_port_start": "0", **sysctls}
    await asyncio.to_thread(in_namespace, link.file, lambda: _set_sysctls(settings))


async def disconnect(link: Link) -> None:
    """Take the pod from the network, whatever of its connection there is. Raises RuntimeFault if something cannot be
    removed."""
    if (await _run_ip("link", "show", "dev", link.host_end))[0] == 0:
        await _ip("link", "delete", link.host_end)
    if link.file.exists():
        await _ip("netns", "delete", link.namespace)


async def is_connected(link: Link, bridge: Bridge) -> bool:
    """Whether the pod's namespace exists and hangs on the bridge."""
    if not link.file.exists():
        return False
    code, out, _ = await _run_ip("-json", "link", "show", "dev", link.host_end)
    if code != 0:
        return False
    found = json.loads(out or "[]")
    return bool(found) and found[0].get("master") == bridge.name


def in_namespace(file: Path, work: Callable[[], _T]) -> _T:
    """Do `work` in a network namespace, in a thread of its own that ends with it. Raises what `work` raises, or
    OSError."""
    result: list[_T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            linux.enter_network(file)
            result.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, name=f"in {file.name}")
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return result[0]


def connect_to_port(file: Path | None, port: int) -> socket.socket:
    """A connection to 127.0.0.1:`port` of the pod whose namespace is `file`, or of the node. Raises OSError."""

    def dial() -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), timeout=10)

    connection = dial() if file is None else in_namespace(file, dial)
    connection.setblocking(False)
    return connection


def traffic(file: Path) -> dict[str, tuple[int, int, int, int]]:
    """Bytes and errors received, bytes and errors sent, by interface of the pod. Raises OSError."""

    def read() -> str:
        return Path("/proc/thread-self/net/dev").read_text(encoding="utf-8")

    counters = {}
    for line in in_namespace(file, read).splitlines()[2:]:
        name, _, numbers = line.partition(":")
        fields = [int(number) for number in numbers.split()]
        counters[name.strip()] = (fields[0], fields[2], fields[8], fields[10])
    return counters


def _set_sysctls(settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        path = Path("/proc/sys") / key.replace(".", "/")
        try:
            path.write_text(value, encoding="utf-8")
        except OSError as error:
            raise RuntimeFault(
                f"sysctl {key} = {value} - {error.strerror}. Correct the pod's securityContext.sysctls."
            ) from error


async def _bridge_shape(bridge: Bridge) -> tuple[int, int]:
    """Prefix length of the bridge's address and its MTU in bytes."""
    code, out, said = await _run_ip("-json", "address", "show", "dev", bridge.name)
    if code != 0:
        raise RuntimeFault(
            f"bridge {bridge.name}: {said} - pods hang on it. Start the runtime where the local cloud's network is."
        )
    found = json.loads(out)[0]
    for entry in found["addr_info"]:
        if entry.get("local") == str(bridge.gateway):
            return int(entry["prefixlen"]), int(found["mtu"])
    raise RuntimeFault(
        f"bridge {bridge.name}: has no address {bridge.gateway} - it is the pods' default route. Correct --gateway."
    )


async def _ip(*arguments: str, script: tuple[str, ...] = ()) -> None:
    code, _, said = await _run_ip(*arguments, script=script)
    if code != 0:
        raise RuntimeFault(f"ip {' '.join(arguments)}: {said}")


async def _run_ip(*arguments: str, script: tuple[str, ...] = ()) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        "ip",
        *arguments,
        env=_IP_ENVIRONMENT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate("".join(f"{line}\n" for line in script).encode())
    return process.returncode or 0, out.decode(), err.decode().strip()
