"""Answers the CRI's questions about resource use."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from local.kubernetes.cri import runtime_pb2 as cri
from local.kubernetes.runtime import network, usage
from local.kubernetes.runtime.containers import Container
from local.kubernetes.runtime.sandboxes import Sandbox

_REMEMBERED_MAX = 1000
"""Measurements kept. Most are of containers that are gone by the time there are so many; a lost one costs one rate."""


class Stats:
    """Measures containers; remembers the last measurement of each, since a rate needs two."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[int, int, int]] = {}

    def measure(self, containers: Sequence[Container]) -> list[Any]:
        """A ContainerStats for each of those that run."""
        running = [each for each in containers if each.process is not None and each.running]
        groups = usage.processes_by_namespace(
            [each.process["pid_namespace"] for each in running if each.process is not None]
        )
        return [
            self._container(each, usage.usage_of(groups[each.process["pid_namespace"]]))
            for each in running
            if each.process is not None
        ]

    def sandbox(self, sandbox: Sandbox, containers: Sequence[Container]) -> Any:
        """A PodSandboxStats: its containers' use together, and its network's."""
        items = self.measure(containers)
        now = time.time_ns()
        message = cri.PodSandboxStats(
            attributes=cri.PodSandboxAttributes(
                id=sandbox.id,
                metadata=sandbox.config.metadata,
                labels=sandbox.config.labels,
                annotations=sandbox.config.annotations,
            )
        )
        linux = message.linux
        linux.cpu.timestamp = linux.memory.timestamp = linux.process.timestamp = now
        linux.cpu.usage_core_nano_seconds.value = sum(item.cpu.usage_core_nano_seconds.value for item in items)
        linux.cpu.usage_nano_cores.value = sum(item.cpu.usage_nano_cores.value for item in items)
        for name in ("working_set_bytes", "usage_bytes", "rss_bytes", "page_faults", "major_page_faults"):
            getattr(linux.memory, name).value = sum(getattr(item.memory, name).value for item in items)
        spaces = [each.process["pid_namespace"] for each in containers if each.process is not None and each.running]
        linux.process.process_count.value = sum(len(pids) for pids in usage.processes_by_namespace(spaces).values())
        linux.containers.extend(items)
        if sandbox.link is not None and sandbox.state == "ready":
            linux.network.timestamp = now
            for name, counters in network.traffic(sandbox.link.file).items():
                interface = cri.NetworkInterfaceUsage(name=name)
                fields = ("rx_bytes", "rx_errors", "tx_bytes", "tx_errors")
                for field, value in zip(fields, counters, strict=True):
                    getattr(interface, field).value = value
                if name == "eth0":
                    linux.network.default_interface.CopyFrom(interface)
                else:
                    linux.network.interfaces.append(interface)
        return message

    def _container(self, container: Container, used: usage.Usage) -> Any:
        now = time.time_ns()
        message = cri.ContainerStats(
            attributes=cri.ContainerAttributes(
                id=container.id,
                metadata=container.config.metadata,
                labels=container.config.labels,
                annotations=container.config.annotations,
            )
        )
        message.cpu.timestamp = message.memory.timestamp = now
        message.cpu.usage_core_nano_seconds.value = used.cpu_nanoseconds
        message.cpu.usage_nano_cores.value = self._rate(container.id, now, used.cpu_nanoseconds)
        memory = message.memory
        memory.working_set_bytes.value = memory.usage_bytes.value = memory.rss_bytes.value = used.rss_bytes
        if container.memory_limit_bytes:
            memory.available_bytes.value = max(0, container.memory_limit_bytes - used.rss_bytes)
        memory.page_faults.value, memory.major_page_faults.value = used.page_faults, used.major_page_faults
        return message

    def _rate(self, identifier: str, now: int, cpu_nanoseconds: int) -> int:
        """Nanoseconds of processor time a second since the last measurement, which is kept if it is less than a
        second ago."""
        if len(self._before) > _REMEMBERED_MAX:
            self._before.clear()
        then, before, rate = self._before.get(identifier, (0, 0, 0))
        if then == 0 or now - then >= 1_000_000_000:
            rate = max(0, cpu_nanoseconds - before) * 1_000_000_000 // (now - then) if then else 0
            self._before[identifier] = (now, cpu_nanoseconds, rate)
        return rate
