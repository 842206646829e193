"""An edge stack, planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tandem.config.base import Colour
from tandem.config.edge import EdgeStack, ExistingCertificate
from tandem.plan import names
from tandem.plan.timeouts import EdgeTimes, edge_times

TLS_POLICY: Final = "ELBSecurityPolicy-TLS13-1-2-Res-2021-06"
"""TLS 1.3, and 1.2 with forward secrecy only."""
ALL: Final = 100
"""Weight of a colour that has all traffic."""
RULE_PRIORITY: Final = 10
NOT_FOUND: Final = '{"error":{"message":"no such path","type":"not_found","code":404}}'
"""What everything but the inference API is answered, in the shape that clients of that API read."""


@dataclass(frozen=True)
class AccessLogsPlan:
    """Where access logs go."""

    bucket: str
    retention_days: int
    disposable: bool


@dataclass(frozen=True)
class EdgePlan:
    """Everything an edge stack makes."""

    prefix: str
    domain: str
    certificate_arn: str | None
    """None: one is issued."""
    hosted_zone_id: str | None
    paths: tuple[str, ...]
    weights: dict[Colour, int]
    """Of the two colours, when the stack is first made."""
    gateway_port: int
    times: EdgeTimes
    requests_per_client: int | None
    """In five minutes; None: no firewall."""
    access_logs: AccessLogsPlan | None
    deletion_protection: bool


def plan_edge(stack: EdgeStack, *, gateway_port: int) -> EdgePlan:
    """The stack's edge, calling gateways on the port that the network stack opens."""
    logs = stack.access_logs
    certificate = stack.certificate
    bucket = names.logs_bucket(stack, "access-logs") if logs else ""
    return EdgePlan(
        prefix=names.prefix(stack),
        domain=stack.domain,
        certificate_arn=certificate.arn if isinstance(certificate, ExistingCertificate) else None,
        hosted_zone_id=stack.hosted_zone.zone_id if stack.hosted_zone else None,
        paths=stack.paths,
        weights={colour: ALL if colour is stack.live else 0 for colour in Colour},
        gateway_port=gateway_port,
        times=edge_times(stack.idle_timeout),
        requests_per_client=stack.firewall.requests_per_client if stack.firewall else None,
        access_logs=AccessLogsPlan(bucket, logs.retention, stack.disposable) if logs else None,
        deletion_protection=stack.deletion_protection,
    )
