"""The site's security groups and each of their rules."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from tandem.plan.ports import Group, Rule

ANYWHERE = "0.0.0.0/0"
PURPOSE = {
    Group.EDGE: "Load balancer: the only door from outside",
    Group.GATEWAY: "System nodes: gateways and monitoring",
    Group.PREFILL: "Compute nodes: prefill engines",
    Group.DECODE: "Bandwidth nodes: decode engines",
    Group.EFA: "EFA devices of GPU nodes",
    Group.NODES: "Every node",
    Group.CONTROL_PLANE: "Network interfaces of the EKS control plane",
}
"""Descriptions. A change of one replaces its group, and with it every launch template."""


class SecurityGroups(pulumi.ComponentResource):
    """One group a role, and a rule of its own for each direction of each row of the port table.

    Creates: security groups, ingress rules, egress rules.
    Cost: none.
    Replaced by: the VPC, a group's description. Rules come and go one by one.
    """

    ids: dict[Group, pulumi.Output[str]]

    def __init__(
        self,
        name: str,
        rules: Sequence[Rule],
        *,
        prefix: str,
        vpc_id: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`prefix` is what the groups' Name tags begin with."""
        super().__init__("tandem:network:SecurityGroups", name, {}, opts)
        self._name = name
        self._child = pulumi.ResourceOptions(parent=self)
        self.ids = {
            group: aws.ec2.SecurityGroup(
                f"{name}-{group}",
                vpc_id=vpc_id,
                description=PURPOSE[group],
                revoke_rules_on_delete=True,
                tags={"Name": f"{prefix}-{group}"},
                opts=self._child,
            ).id
            for group in Group
        }
        for rule in rules:
            self._create_rule(rule)
        self.register_outputs({"ids": {str(group): value for group, value in self.ids.items()}})

    def _create_rule(self, rule: Rule) -> None:
        kind = aws.vpc.SecurityGroupIngressRule if rule.direction == "ingress" else aws.vpc.SecurityGroupEgressRule
        low, high = rule.ports or (None, None)
        kind(
            f"{self._name}-{rule.name}",
            security_group_id=self.ids[rule.group],
            referenced_security_group_id=self.ids[rule.peer] if rule.peer else None,
            cidr_ipv4=None if rule.peer else ANYWHERE,
            ip_protocol="-1" if rule.protocol == "all" else rule.protocol,
            from_port=low,
            to_port=high,
            description=rule.why,
            tags={"Name": rule.name},
            opts=self._child,
        )
