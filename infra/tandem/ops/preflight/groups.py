"""The environment's clusters as they are planned: preflight asks about what will be made, not about what was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tandem.config.cluster import ClusterStack
from tandem.config.network import NetworkStack
from tandem.config.stack import Stack
from tandem.plan.cluster import ClusterPlan, plan_cluster


def clusters(stacks: Mapping[str, Stack]) -> Iterator[tuple[str, ClusterStack, ClusterPlan]]:
    """Each cluster stack: its name, what is written, what is planned. The environment must have been judged before."""
    for name, stack in stacks.items():
        if isinstance(stack, ClusterStack):
            network = stacks[stack.uses["network"]]
            assert isinstance(network, NetworkStack)
            yield (
                name,
                stack,
                plan_cluster(
                    stack, zones=network.zones, kv_zone_id=network.kv_zone, vpc_cidr=network.vpc.cidr, at=name
                ),
            )
