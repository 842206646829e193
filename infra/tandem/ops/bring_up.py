"""Brings an environment up: the cloud below it, its stacks in order, and the proof that it serves."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.config.environment import LocalCloud
from tandem.config.registry import RegistryStack
from tandem.ops import api_keys, exclusive, local_cloud, prove, schedule, shell
from tandem.ops.engine import Changes, Engine
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.progress import Progress
from tandem.plan.cost import CostReport, site_cost


@dataclass(frozen=True)
class Report:
    """What `tandem up` did, and what stands now."""

    environment: str
    seconds: float
    changes: Mapping[str, Changes]
    proof: prove.Proof | None
    cost: CostReport
    local: bool

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "environment": self.environment,
            "seconds": round(self.seconds, 1),
            "changes": self.changes,
            "proof": self.proof.as_dict() if self.proof else None,
            "cost_usd_per_hour_on_aws": self.cost.usd_per_hour,
            "simulated": SIMULATED if self.local else [],
        }

    def as_text(self) -> str:
        """For a person: the last lines of `tandem up`."""
        changed = sum(
            count for changes in self.changes.values() for operation, count in changes.items() if operation != "same"
        )
        lines = [
            "",
            f"{self.environment} is up after {self.seconds:.0f} s: "
            f"{changed or 'no'} changes in {len(self.changes)} stacks",
        ]
        if self.proof is not None:
            lines += [f"  address   {self.proof.address}", f"  answered  {self.proof.as_text()}"]
            if self.local:
                first, *rest = self._curl()
                lines += [f"  curl      {first}", *(f"              {line}" for line in rest)]
        lines.append(f"  on AWS    {self.cost.as_line()}")
        if self.local:
            lines.append(f"  simulated {'; '.join(SIMULATED)}")
        lines.append(f"  down      make down, or: tandem down {self.environment}")
        return "\n".join(lines)

    def _curl(self) -> list[str]:
        """The same question by curl, as it can be pasted into a shell."""
        assert self.proof is not None
        tandem = Path(sys.executable).parent / "tandem"
        body = {"model": self.proof.model, "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
        words = (
            ("curl", "-N", "--cacert", shlex.quote(str(prove.edge_ca()))),
            ("-H", f'"Authorization: Bearer $({shlex.quote(str(tandem))} secrets show-api-key {self.environment})"'),
            ("-H", "'Content-Type: application/json'", "-d", shlex.quote(json.dumps(body))),
            (f"{self.proof.address}/v1/chat/completions",),
        )
        return [" ".join(part) + (" \\" if part is not words[-1] else "") for part in words]


SIMULATED = (
    "AWS (moto and a stand-in for its provider)",
    "the load balancer",
    "instances and their GPUs",
    "the engine (times follow a profile file)",
)
"""What is not real in a local environment. Kubernetes, Pulumi, the gateway and the KV transfer are."""


def run(
    environment: LoadedEnvironment,
    progress: Progress,
    *,
    chat: bool = True,
    on_text: Callable[[str], None] = lambda _: None,
) -> Report:
    """Applies every stack as soon as those it reads are up. Raises `TandemError`; the same call goes on from there."""
    with exclusive.changing(environment.name, shell.state_folder()):
        return _run(environment, progress, chat=chat, on_text=on_text)


def _run(environment: LoadedEnvironment, progress: Progress, *, chat: bool, on_text: Callable[[str], None]) -> Report:
    cloud = environment.settings.cloud
    variables = shell.variables(environment)
    if isinstance(cloud, LocalCloud):
        progress.say("local cloud", "starting (AWS, load balancer and GPUs are simulated)")
        local_cloud.up(environment)
        progress.say("local cloud", "answers")
    engine = Engine(variables, progress, environment.project)

    def apply(stack: str) -> Changes:
        progress.say(stack, "applying")
        changes = engine.up(stack)
        needs_keys = isinstance(cloud, LocalCloud) and isinstance(environment.stacks[stack], RegistryStack)
        if needs_keys and api_keys.ensure(prove.secret_name(environment), variables):
            progress.say(stack, "made the API keys")
        progress.say(stack, ", ".join(f"{count} {operation}" for operation, count in sorted(changes.items())))
        return changes

    changes = schedule.run({stack: environment.reads(stack) for stack in environment.stacks}, apply)
    proof = None
    if chat:
        progress.say("edge", "asking for a chat completion")
        proof = prove.run(environment, wait_seconds=prove.FIRST_ANSWER_SECONDS, on_text=on_text)
    return Report(
        environment.name,
        progress.elapsed_seconds,
        changes,
        proof,
        site_cost(environment.stacks),
        isinstance(cloud, LocalCloud),
    )
