"""How long a pod that is told to stop may take.

    worker  = pre-stop pause + longest piece of work + a minute for the engine's own end
    gateway = pre-stop pause + longest request + the same minute

SGLang's own drain has no end (it waits until no request is left), so the grace period is the only bound: too short cuts
answers, and one that is too long delays only a rollout that is already in trouble.
"""

from __future__ import annotations

from typing import Final

from tandem import limits
from tandem.config.base import Role

ENGINE_EXIT_SECONDS: Final = 60
"""SGLang looks for the last request every 5 s, gives its schedulers 15 s, then kills them; the rest is room."""


def worker_seconds(role: Role) -> int:
    """terminationGracePeriodSeconds of an engine: prefill ends once decode has the KV, decode once it has answered."""
    work = limits.ENGINE_TRANSFER_TIMEOUT if role is Role.PREFILL else limits.GATEWAY_REQUEST_TIMEOUT
    return limits.PRESTOP_SECONDS + work + ENGINE_EXIT_SECONDS


def gateway_seconds() -> int:
    """terminationGracePeriodSeconds of a gateway pod."""
    return limits.PRESTOP_SECONDS + limits.GATEWAY_REQUEST_TIMEOUT + ENGINE_EXIT_SECONDS
