"""Memory limits, simulated: what a control group would do by refusing pages is done by looking and killing.

A container that takes its limit's worth of memory between two looks is killed a moment later than a real one would be.
"""

from __future__ import annotations

import asyncio

from local.kubernetes.runtime import limits, usage
from local.kubernetes.runtime.containers import Container, Containers

REASON = "OOMKilled"


async def enforce_limits(containers: Containers) -> None:
    """Kill each container that uses more memory than its limit, for as long as the runtime runs."""
    while True:
        await asyncio.sleep(limits.MEMORY_CHECK_SECONDS)
        limited = {
            container.process["pid_namespace"]: container
            for container in containers.all()
            if container.process is not None and container.running and container.memory_limit_bytes > 0
        }
        if not limited:
            continue
        for namespace, pids in usage.processes_by_namespace(limited).items():
            container = limited[namespace]
            used = memory_over_limit(container.memory_limit_bytes, pids)
            if used is not None:
                await containers.kill_for(container, REASON, message(container, used))


def memory_over_limit(limit_bytes: int, pids: list[int]) -> int | None:
    """The bytes these processes use, if they are more than the limit."""
    # The cheap upper bound first; only where it is over does the exact sum decide.
    if usage.rss_bytes(pids) <= limit_bytes:
        return None
    used = usage.proportional_bytes(pids)
    return used if used > limit_bytes else None


def message(container: Container, used_bytes: int) -> str:
    """What the container's status says."""
    return (
        f"used {used_bytes / 2**20:.0f} MiB of memory with a limit of {container.memory_limit_bytes / 2**20:.0f} MiB "
        "(simulated: the local runtime looks at resident memory and kills)"
    )
