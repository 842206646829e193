"""Which handler serves a type. Service files are imported when one of their types is first asked for."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Final

from local.aws.plugin.handler import Handler

MODULES: Final[dict[str, str]] = {
    "ec2": "ec2",
    "vpc": "ec2",
    "iam": "iam",
    "kms": "kms",
    "s3": "s3",
    "ecr": "ecr",
    "eks": "eks",
    "lb": "elbv2",
    "wafv2": "wafv2",
    "secretsmanager": "secretsmanager",
    "cloudwatch": "logs",
    "acm": "acm",
    "route53": "route53",
    "budgets": "budgets",
}
"""Pulumi module -> file in `services`."""


@cache
def handler(kind: str) -> Handler | None:
    """The handler of a type; None where the stand-in does not have it."""
    module = MODULES.get(kind.partition(":")[2].partition("/")[0])
    found = _handlers(module).get(kind) if module else None
    return found() if found else None


def types() -> list[str]:
    """All types there are."""
    return sorted(kind for module in dict.fromkeys(MODULES.values()) for kind in _handlers(module))


@cache
def _handlers(module: str) -> dict[str, type[Handler]]:
    loaded = importlib.import_module(f"local.aws.plugin.services.{module}")
    return {
        value.type: value
        for value in vars(loaded).values()
        if isinstance(value, type) and issubclass(value, Handler) and "type" in vars(value)
    }
