"""Times that must fit one another on a request's way: client, edge, gateway, engine.

    idle timeout of the edge   > pause between two keep-alive comments of the gateway
    deregistration delay       = longest request, and no more than the load balancer allows

A shorter delay cuts answers when a gateway leaves; a longer one delays nothing but the gateway's end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tandem import limits

HEALTH_PATH: Final = "/readiness"
"""Of the gateway: 503 until it knows a prefill and a decode engine, and again as soon as it is told to stop."""


@dataclass(frozen=True)
class EdgeTimes:
    """What the load balancer is told, in seconds where nothing else is said."""

    idle_seconds: int
    deregistration_seconds: int
    health_path: str
    health_interval_seconds: int
    health_timeout_seconds: int
    healthy_threshold: int
    """Answers in a row that make a gateway healthy."""
    unhealthy_threshold: int


def edge_times(idle_seconds: int) -> EdgeTimes:
    """Times of the edge for the longest silence that a person allows on a stream."""
    return EdgeTimes(
        idle_seconds=idle_seconds,
        deregistration_seconds=min(limits.GATEWAY_REQUEST_TIMEOUT, limits.DEREGISTRATION_MAX),
        health_path=HEALTH_PATH,
        # The shortest that the load balancer takes: a gateway that leaves says so on this path, and only there.
        health_interval_seconds=5,
        health_timeout_seconds=4,
        healthy_threshold=2,
        unhealthy_threshold=2,
    )
