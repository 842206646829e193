"""Composes an edge stack."""

from __future__ import annotations

import pulumi

from tandem.components.certificate import Certificate
from tandem.components.firewall import Firewall
from tandem.components.load_balancer import LoadBalancer
from tandem.components.provider import aws_provider
from tandem.components.target_group import TargetGroup
from tandem.config.base import Colour
from tandem.config.edge import EdgeStack
from tandem.outputs import contract
from tandem.outputs.edge import EdgeOutputs
from tandem.plan.edge import plan_edge
from tandem.plan.ports import Group
from tandem.programs import upstream


def build(stack: EdgeStack) -> None:
    """Declares everything of the stack."""
    network = upstream.network(stack.uses["network"])
    plan = plan_edge(stack, gateway_port=network.gateway_port)
    opts = pulumi.ResourceOptions(providers={"aws": aws_provider(stack)})
    certificate_arn: pulumi.Input[str]
    if plan.certificate_arn is None:
        certificate_arn = Certificate(
            "certificate", domain=plan.domain, hosted_zone_id=plan.hosted_zone_id, opts=opts
        ).arn
    else:
        certificate_arn = plan.certificate_arn
    target_groups = {
        colour: TargetGroup(
            f"gateway-{colour}", plan.times, port=plan.gateway_port, vpc_id=network.vpc_id, opts=opts
        ).arn
        for colour in Colour
    }
    group = network.security_groups[Group.EDGE]
    balancer = LoadBalancer(
        "edge",
        plan,
        account_id=stack.account_id,
        subnet_ids=[subnet.id for subnet in network.subnets_for("public")],
        security_group_id=group,
        certificate_arn=certificate_arn,
        target_groups=target_groups,
        opts=opts,
    )
    if plan.requests_per_client is not None:
        Firewall("firewall", requests_per_client=plan.requests_per_client, load_balancer_arn=balancer.arn, opts=opts)
    contract.export(
        EdgeOutputs,
        domain=plan.domain,
        dns_name=balancer.dns_name,
        load_balancer_arn=balancer.arn,
        security_group_id=group,
        listener_arn=balancer.listener_arn,
        rule_arn=balancer.rule_arn,
        target_groups={colour.value: arn for colour, arn in target_groups.items()},
        gateway_port=plan.gateway_port,
        health_path=plan.times.health_path,
    )
