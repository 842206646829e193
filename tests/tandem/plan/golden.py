"""Exact plans of the checkout's stacks, kept as files: a change of one shows in review.

python -m tests.tandem.plan.golden      writes them anew
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.network import NetworkStack
from tandem.config.registry import RegistryStack
from tandem.plan.cluster import plan_cluster
from tandem.plan.cost import site_cost
from tandem.plan.edge import plan_edge
from tandem.plan.network import plan_network
from tandem.plan.registry import plan_registry

from tests.tandem.stacks import load, names

FOLDER = Path(__file__).parent / "golden"
ENVIRONMENTS = ("dev", "local")


def planned(environment: str) -> dict[str, Any]:
    """The plans of an environment's stacks, and what they cost."""
    stacks = {name: load(name) for name in names(environment)}
    plans: dict[str, Any] = {}
    for name, stack in stacks.items():
        match stack:
            case RegistryStack():
                plans[name] = dataclasses.asdict(plan_registry(stack))
            case NetworkStack():
                plans[name] = dataclasses.asdict(plan_network(stack, name))
            case EdgeStack():
                plans[name] = dataclasses.asdict(plan_edge(stack, gateway_port=_network(stack).gateway_port))
            case ClusterStack():
                net = _network(stack)
                cidr = net.vpc.cidr
                plan = plan_cluster(stack, zones=net.zones, kv_zone_id=net.kv_zone, vpc_cidr=cidr, at=name)
                plans[name] = dataclasses.asdict(plan)
    return {"plans": plans, "cost": site_cost(stacks).as_dict()}


def text(environment: str) -> str:
    """What the file of an environment must hold."""
    return json.dumps(planned(environment), indent=1, sort_keys=True) + "\n"


def _network(stack: ClusterStack | EdgeStack) -> NetworkStack:
    network = load(stack.uses["network"])
    assert isinstance(network, NetworkStack)
    return network


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for environment in ENVIRONMENTS:
        (FOLDER / f"{environment}.json").write_text(text(environment), encoding="utf-8")
