"""What moto says about load balancers, as frozen values: compared to find what changed, and never edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """An address that takes requests."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class HealthCheck:
    """How a target is asked; times in seconds."""

    path: str
    interval: float
    timeout: float
    healthy_after: int
    unhealthy_after: int
    codes: frozenset[int]


@dataclass(frozen=True)
class TargetGroup:
    """Targets that are alike."""

    arn: str
    name: str
    health_check: HealthCheck
    targets: frozenset[Target]
    deregistration_delay: float
    """Seconds that a request in flight may go on after its target was deregistered."""
    algorithm: str
    """`round_robin` or `least_outstanding_requests`."""


@dataclass(frozen=True)
class Condition:
    """One condition of a rule; met when any of its values matches."""

    field: str
    values: tuple[str, ...]
    header: str | None = None


@dataclass(frozen=True)
class Forward:
    """Sends the request on, to target groups by weight."""

    weights: tuple[tuple[str, int], ...]
    """(target group ARN, weight)."""


@dataclass(frozen=True)
class FixedResponse:
    """Answers at once."""

    status: int
    content_type: str
    body: str


@dataclass(frozen=True)
class Redirect:
    """Sends the client elsewhere; `#{...}` parts are filled from the request."""

    status: int
    location: str


Action = Forward | FixedResponse | Redirect


@dataclass(frozen=True)
class Rule:
    """The first rule whose conditions are all met decides."""

    arn: str
    conditions: tuple[Condition, ...]
    action: Action


@dataclass(frozen=True)
class Listener:
    """One port of a load balancer."""

    arn: str
    port: int
    tls: bool
    domains: tuple[str, ...]
    """Names of its certificate; empty without TLS."""
    rules: tuple[Rule, ...]
    """By priority, the default rule last."""


@dataclass(frozen=True)
class LoadBalancer:
    """One load balancer."""

    arn: str
    name: str
    internet_facing: bool
    subnet_cidr: str
    """First subnet's: its address is taken there."""
    idle_timeout: float
    """Seconds without a byte either way."""
    listeners: tuple[Listener, ...]


@dataclass(frozen=True)
class Snapshot:
    """All of it at one moment."""

    load_balancers: Mapping[str, LoadBalancer]
    target_groups: Mapping[str, TargetGroup]
    not_enforced: tuple[str, ...]
    """What is configured but not simulated, in words."""
