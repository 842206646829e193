"""Takes away what keeps an environment from being destroyed. Only for a rehearsal: a real one is protected for a reason."""

from __future__ import annotations

from typing import Any

from tandem.config.environment import LocalCloud
from tandem.errors import TandemError
from tandem.ops import clients, shell
from tandem.ops.engine import Engine
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.progress import Progress


def lift(environment: LoadedEnvironment, progress: Progress) -> None:
    """Protection by Pulumi, and of load balancers. Raises `TandemError` for an environment that is not on this machine."""
    if not isinstance(environment.settings.cloud, LocalCloud):
        raise TandemError(
            f"environment {environment.name}: is real - its protection is lifted in its stack files, one at a time, "
            f"by a change that somebody reviews."
        )
    engine = Engine(shell.variables(environment), progress, environment.project)
    present = engine.recorded()
    for stack in environment.stacks:
        if stack in present and (count := engine.unprotect(stack)):
            progress.say(stack, f"{count} protected resources may be destroyed")
    for region in environment.regions:
        _free_load_balancers(clients.client("elbv2", shell.variables(environment), region))


def _free_load_balancers(elbv2: Any) -> None:
    off = [{"Key": "deletion_protection.enabled", "Value": "false"}]
    for page in elbv2.get_paginator("describe_load_balancers").paginate():
        for balancer in page["LoadBalancers"]:
            elbv2.modify_load_balancer_attributes(LoadBalancerArn=balancer["LoadBalancerArn"], Attributes=off)
