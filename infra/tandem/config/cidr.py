"""Address ranges as people write them."""

from __future__ import annotations

from ipaddress import IPv4Network, ip_network
from typing import Annotated

from pydantic import AfterValidator

PRIVATE = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))
"""What nobody routes on the Internet; load balancers accept targets only there."""


def network(value: str) -> IPv4Network:
    """The range that an accepted value means."""
    return IPv4Network(value)


def _cidr(value: str) -> str:
    try:
        parsed = ip_network(value, strict=False)
    except ValueError as error:
        raise ValueError("must be an IPv4 range in CIDR notation | Write it as 10.0.0.0/16") from error
    if not isinstance(parsed, IPv4Network):
        raise ValueError("must be an IPv4 range; the site has no IPv6 | Write it as 10.0.0.0/16")
    if str(parsed) != value:
        raise ValueError(f"has bits set behind its prefix; the range is {parsed} | Write {parsed}")
    return value


def _private(value: str) -> str:
    if not any(network(value).subnet_of(block) for block in PRIVATE):
        known = ", ".join(map(str, PRIVATE))
        raise ValueError(f"must be a private range, inside {known} | Choose one of them")
    return value


Cidr = Annotated[str, AfterValidator(_cidr)]
"""An IPv4 range, for example `203.0.113.0/24`."""
PrivateCidr = Annotated[str, AfterValidator(_cidr), AfterValidator(_private)]
"""A private IPv4 range, for example `10.0.0.0/16`."""
