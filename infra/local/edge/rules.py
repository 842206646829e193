"""Which rule of a listener a request meets. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address, ip_network
from urllib.parse import parse_qsl

from local.edge.model import Condition, Listener, Rule


@dataclass(frozen=True)
class Request:
    """What conditions look at."""

    method: str
    host: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Names compared without case."""
    source: str
    """The client's address."""


def find_rule(listener: Listener, request: Request) -> Rule:
    """The first rule all of whose conditions are met; the default rule has none and is last."""
    return next(rule for rule in listener.rules if all(_met(condition, request) for condition in rule.conditions))


def _met(condition: Condition, request: Request) -> bool:
    match condition.field:
        case "path-pattern":
            return any(_glob(value, True).fullmatch(request.path) for value in condition.values)
        case "host-header":
            host = request.host.rpartition(":")[0] if request.host.rpartition(":")[2].isdigit() else request.host
            return any(_glob(value, False).fullmatch(host) for value in condition.values)
        case "http-request-method":
            return request.method in condition.values
        case "http-header":
            value = request.headers.get(condition.header or "")
            return value is not None and any(_glob(pattern, False).fullmatch(value) for pattern in condition.values)
        case "source-ip":
            source = ip_address(request.source)
            return any(source in ip_network(value, strict=False) for value in condition.values)
        case "query-string":
            pairs = parse_qsl(request.query, keep_blank_values=True)
            return any(_in_query(value, pairs) for value in condition.values)
    # A condition that is not known here must not open anything.
    return False


def _in_query(wanted: str, pairs: list[tuple[str, str]]) -> bool:
    key, separator, value = wanted.partition("=")
    if not separator:
        return any(_glob(wanted, False).fullmatch(found) for _, found in pairs)
    return any(_glob(key, False).fullmatch(k) and _glob(value, False).fullmatch(v) for k, v in pairs)


@cache
def _glob(pattern: str, case: bool) -> re.Pattern[str]:
    """`*` is any run of characters and `?` any one; nothing else is special. Only paths mind the case."""
    parts = {"*": ".*", "?": "."}
    return re.compile("".join(parts.get(c, re.escape(c)) for c in pattern), re.DOTALL | (0 if case else re.IGNORECASE))
