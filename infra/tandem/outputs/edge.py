"""What an edge stack gives to the stacks of its site."""

from __future__ import annotations

from typing import ClassVar

from tandem.config.base import Colour
from tandem.outputs.contract import Contract


class EdgeOutputs(Contract):
    """The load balancer and the two target groups behind it."""

    KIND: ClassVar[str] = "edge"
    VERSION: ClassVar[int] = 1

    domain: str
    """The name that the certificate is for, and that clients use."""
    dns_name: str
    """The load balancer's own name."""
    load_balancer_arn: str
    security_group_id: str
    """The load balancer's; the gateways' group lets it in."""
    listener_arn: str
    rule_arn: str
    """The rule whose weights split traffic between the colours; the rollout sets them."""
    target_groups: dict[Colour, str]
    """Colour -> ARN."""
    gateway_port: int
    health_path: str
    """The path that the load balancer asks each gateway for."""
