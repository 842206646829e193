"""Sites for serving plans: the local one as its stack files make it, and variations."""

from __future__ import annotations

import dataclasses
from typing import Any

from tandem.config.base import Colour, NodeClass
from tandem.config.load import parse_stack
from tandem.config.serving import ServingStack
from tandem.errors import Fault, PlanError
from tandem.facts.instances import instances
from tandem.plan.serving import ServingPlan, plan_serving
from tandem.plan.site import ClassNodes, ServingSite

from tests.tandem import stacks

AT = "stacks/Pulumi.test.yaml: tandem:stack"


def nodes(node_class: NodeClass, instance_type: str, *, nodes_max: int = 4, efa: bool = False) -> ClassNodes:
    """Nodes of an instance type, by its facts."""
    instance = instances()[instance_type]
    assert instance.accelerator is not None
    return ClassNodes(
        node_class=node_class,
        instance_type=instance_type,
        accelerator=instance.accelerator.name,
        capability=instance.accelerator.capability,
        gpus=instance.gpus,
        gpu_memory_gib=instance.accelerator.memory_gib,
        vcpus=instance.vcpus,
        memory_gib=instance.memory_gib,
        network_gbps=instance.network_gbps,
        efa_interfaces=instance.efa_interfaces if efa else 0,
        nodes_max=nodes_max,
    )


def site(compute: str = "g6e.12xlarge", bandwidth: str = "p5en.48xlarge", **changes: Any) -> ServingSite:
    """The local site, or one with other nodes."""
    efa = changes.pop("efa", False)
    base = ServingSite(
        nodes={
            NodeClass.COMPUTE: nodes(NodeClass.COMPUTE, compute, efa=efa),
            NodeClass.BANDWIDTH: nodes(NodeClass.BANDWIDTH, bandwidth, efa=efa),
        },
        repositories={name: f"registry.test/tandem/local/{name}" for name in ("engine-sim", "gateway", "sglang")},
        weights_bucket="tandem-weights-test",
        zone_id="use1-az4",
        vpc_cidr="10.200.0.0/16",
        edge_cidrs=("10.200.16.0/24", "10.200.17.0/24"),
        gateway_port=8080,
        target_groups={colour: f"arn:aws:elasticloadbalancing:test:targetgroup/{colour}" for colour in Colour},
    )
    return dataclasses.replace(base, **changes)


def stack(description: dict[str, Any] | None = None) -> ServingStack:
    """The local serving stack, or a changed description of it."""
    parsed = parse_stack(description or stacks.data("local-serving"), "stacks/Pulumi.test.yaml")
    assert isinstance(parsed, ServingStack)
    return parsed


def plan(description: dict[str, Any] | None = None, where: ServingSite | None = None) -> ServingPlan:
    """The plan of a description on a site."""
    return plan_serving(stack(description), where or site(), AT)


def faults(description: dict[str, Any] | None = None, where: ServingSite | None = None) -> list[Fault]:
    """Why it cannot be built; empty if it can."""
    try:
        plan(description, where)
    except PlanError as error:
        return list(error.faults)
    return []


def only_fault(description: dict[str, Any] | None = None, where: ServingSite | None = None) -> Fault:
    """The one reason why it cannot be built."""
    found = faults(description, where)
    assert len(found) == 1, f"one fault was expected: {[str(fault) for fault in found]}"
    return found[0]
