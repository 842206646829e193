"""Proves that a site serves: one streamed answer through the edge, and KV that moved from prefill to decode for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tandem import limits
from tandem.config.edge import EdgeStack
from tandem.config.environment import LocalCloud
from tandem.config.serving import ServingStack
from tandem.errors import CloudUnavailable, TandemError
from tandem.ops import api_keys, chat, shell
from tandem.ops.cluster import Cluster
from tandem.ops.environment import LoadedEnvironment
from tandem.plan import names

PROMPT = "In one sentence: why should prefill and decode run on different machines?"
FIRST_ANSWER_SECONDS = 60
"""How long the edge may take to see its first healthy target after the stacks are up."""
RETRY_SECONDS = 0.5


@dataclass(frozen=True)
class Proof:
    """What a client saw, and what the engines counted meanwhile."""

    address: str
    model: str
    """Name that was asked for."""
    answer: chat.Answer
    kv_bytes: int | None
    """KV cache bytes that prefill pushed to decode while this answer was made; None where nobody can be asked."""
    simulated: bool

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)

    def as_text(self) -> str:
        """For a person."""
        answer = self.answer
        moved = "not measured" if self.kv_bytes is None else f"{self.kv_bytes:,} bytes from prefill to decode"
        note = " (simulated engine: times follow its profile file, not a GPU)" if self.simulated else ""
        return (
            f"TTFT {answer.ttft_seconds * 1000:.0f} ms, TPOT {answer.tpot_seconds * 1000:.1f} ms, "
            f"{answer.prompt_tokens} prompt + {answer.completion_tokens} answer tokens; KV moved: {moved}{note}"
        )


def run(
    environment: LoadedEnvironment,
    prompt: str = PROMPT,
    *,
    max_tokens: int = 32,
    wait_seconds: float = 0,
    on_text: Callable[[str], None] = lambda _: None,
) -> Proof:
    """Streams one answer. With `wait_seconds` an edge that does not answer yet is asked again until then.

    Raises `CloudUnavailable` when no whole answer came, or when the answer needed no KV transfer.
    """
    variables = shell.variables(environment)
    stack = serving(environment)
    keys = api_keys.read(secret_name(environment), variables)
    where = address(environment)
    cluster = Cluster(kubeconfig()) if isinstance(environment.settings.cloud, LocalCloud) else None
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            before = cluster.kv_moved_bytes() if cluster else 0
            answer = chat.stream(where, keys.api_key, model(stack), prompt, max_tokens=max_tokens, on_text=on_text)
            break
        except CloudUnavailable:
            if time.monotonic() >= deadline:
                raise
            # The edge offers no event to a client: it can only be asked again.
            time.sleep(RETRY_SECONDS)
    moved = cluster.kv_moved_bytes() - before if cluster else None
    if moved is not None and moved <= 0:
        raise CloudUnavailable(f"{where}: answered, but no KV moved from prefill to decode - the pair did not meet")
    return Proof(str(where), model(stack), answer, moved, "simulated" in (answer.system_fingerprint or ""))


def serving(environment: LoadedEnvironment) -> ServingStack:
    """The environment's serving stack of the home site."""
    for stack in environment.stacks.values():
        if isinstance(stack, ServingStack):
            return stack
    raise TandemError(f"environment {environment.name}: has no serving stack - nothing answers there. Add one")


def model(stack: ServingStack) -> str:
    """The model name that clients ask for: the live colour's, or that of the only colour there is."""
    present = dict(stack.colours.present())
    return present.get(stack.live, next(iter(present.values()))).pair.served_name


def secret_name(environment: LoadedEnvironment) -> str:
    """The Secrets Manager secret that holds the site's API keys; its registry stack owns it."""
    registry = serving(environment).uses["registry"]
    return names.api_keys_secret(environment.stacks[registry])


def address(environment: LoadedEnvironment) -> chat.Address:
    """Where clients reach the site: its domain, or the local cloud's door."""
    cloud = environment.settings.cloud
    if isinstance(cloud, LocalCloud):
        return chat.Address("127.0.0.1", cloud.doors.edge, edge_ca())
    edge = environment.stacks[serving(environment).uses["edge"]]
    assert isinstance(edge, EdgeStack)
    return chat.Address(edge.domain, limits.HTTPS_PORT)


def edge_ca() -> Path:
    """The authority that signs the local edge's certificates."""
    return shell.state_folder() / "local" / "pki" / "edge-ca.crt"


def kubeconfig() -> Path:
    """The local cloud's administrator's way in."""
    return shell.state_folder() / "local" / "kubeconfig"
