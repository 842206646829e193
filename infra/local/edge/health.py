"""Asks every target whether it is well, as its group says. moto calls every target healthy; this measures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp

from local.edge.model import HealthCheck, Target, TargetGroup


@dataclass
class TargetHealth:
    """What is known of one target of one group."""

    healthy: bool = False
    reason: str = "initial"
    successes: int = 0
    failures: int = 0

    def record(self, check: HealthCheck, *, ok: bool, reason: str) -> None:
        """Counts one answer. A new target is healthy after its first good one, as with the real one."""
        self.successes = self.successes + 1 if ok else 0
        self.failures = 0 if ok else self.failures + 1
        first = self.reason == "initial"
        if ok and (first or self.successes >= check.healthy_after):
            self.healthy, self.reason = True, ""
        elif not ok and (first or self.failures >= check.unhealthy_after):
            self.healthy, self.reason = False, reason
        if first and not self.reason:
            self.reason = "" if ok else reason


@dataclass
class HealthChecks:
    """One task a target; started and ended as groups change."""

    session: aiohttp.ClientSession
    states: dict[tuple[str, Target], TargetHealth] = field(default_factory=dict)
    _tasks: dict[tuple[str, Target], tuple[HealthCheck, asyncio.Task[None]]] = field(default_factory=dict)

    def follow(self, groups: Mapping[str, TargetGroup]) -> None:
        """Checks exactly the targets of these groups from here on."""
        wanted = {(arn, target): group.health_check for arn, group in groups.items() for target in group.targets}
        for key, (check, task) in list(self._tasks.items()):
            if wanted.get(key) != check:
                task.cancel()
                del self._tasks[key]
                if key not in wanted:
                    del self.states[key]
        for key, check in wanted.items():
            if key not in self._tasks:
                state = self.states.setdefault(key, TargetHealth())
                self._tasks[key] = (check, asyncio.create_task(self._ask_forever(key[1], check, state)))

    def healthy(self, group: TargetGroup) -> list[Target]:
        """Targets of the group that are well."""
        return [t for t in group.targets if (state := self.states.get((group.arn, t))) is not None and state.healthy]

    async def _ask_forever(self, target: Target, check: HealthCheck, state: TargetHealth) -> None:
        while True:
            ok, reason = await self._ask(target, check)
            state.record(check, ok=ok, reason=reason)
            # The interval is the protocol's own clock: there is no event to wait for.
            await asyncio.sleep(check.interval)

    async def _ask(self, target: Target, check: HealthCheck) -> tuple[bool, str]:
        timeout = aiohttp.ClientTimeout(total=check.timeout)
        try:
            url = f"http://{target}{check.path}"
            async with self.session.get(url, timeout=timeout, allow_redirects=False) as response:
                return response.status in check.codes, f"health checks failed with code {response.status}"
        except TimeoutError:
            return False, "request timed out"
        except (aiohttp.ClientError, OSError) as error:
            return False, f"{type(error).__name__}"

    async def close(self) -> None:
        """Ends all checks."""
        self.follow({})
