"""Composes a network stack."""

from __future__ import annotations

import pulumi

from tandem.components.flow_logs import FlowLogs
from tandem.components.provider import aws_provider
from tandem.components.security_groups import SecurityGroups
from tandem.components.vpc import Vpc
from tandem.config.network import NetworkStack
from tandem.outputs import contract
from tandem.outputs.network import NetworkOutputs
from tandem.plan.network import plan_network


def build(stack: NetworkStack) -> None:
    """Declares everything of the stack."""
    plan = plan_network(stack, f"stacks/Pulumi.{pulumi.get_stack()}.yaml: tandem:stack")
    opts = pulumi.ResourceOptions(providers={"aws": aws_provider(stack)})
    vpc = Vpc("vpc", plan, account_id=stack.account_id, opts=opts)
    groups = SecurityGroups("group", plan.rules, prefix=plan.prefix, vpc_id=vpc.vpc_id, opts=opts)
    if plan.flow_logs is not None:
        FlowLogs("flow-logs", plan.flow_logs, vpc_id=vpc.vpc_id, account_id=stack.account_id, opts=opts)
    contract.export(
        NetworkOutputs,
        vpc_id=vpc.vpc_id,
        vpc_cidr=plan.cidr,
        kv_zone_id=plan.kv_zone_id,
        subnets=[
            {"id": vpc.subnet_ids[subnet.key], "use": subnet.use, "zone_id": subnet.zone_id, "cidr": subnet.cidr}
            for subnet in plan.subnets
        ],
        security_groups={str(group): group_id for group, group_id in groups.ids.items()},
        gateway_port=plan.gateway_port,
    )
