"""An IAM role of an AWS service or of pods."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from tandem.components.policy_document import Statement, policy_document, trust


class ServiceRole(pulumi.ComponentResource):
    """A role that one AWS service takes, with AWS's own policies and statements of ours.

    Creates: role, attachments, inline policy.
    Cost: none.
    Replaced by: the name. Whatever refers to a role by ARN breaks when one of the same name is made again.
    """

    arn: pulumi.Output[str]
    attachments: list[pulumi.Resource]
    """What whoever takes the role must wait for, at creation and, the other way round, at deletion."""

    def __init__(
        self,
        name: str,
        *,
        role_name: str,
        service: str,
        actions: Sequence[str] = ("sts:AssumeRole",),
        managed_policies: Sequence[str] = (),
        statements: Sequence[Statement] = (),
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`role_name` is completed by Pulumi; `managed_policies` are names of AWS's own."""
        super().__init__("tandem:account:ServiceRole", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = aws.iam.Role(
            role_name,
            assume_role_policy=trust(service, actions),
            # Attachments of policies that nobody wrote down are what an intruder leaves.
            force_detach_policies=True,
            opts=child,
        )
        self.arn = role.arn
        self.attachments = [
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy}", role=role.name, policy_arn=f"arn:aws:iam::aws:policy/{policy}", opts=child
            )
            for policy in managed_policies
        ]
        if statements:
            self.attachments.append(
                aws.iam.RolePolicy(f"{name}-policy", role=role.name, policy=policy_document(*statements), opts=child)
            )
        self.register_outputs({"arn": self.arn})
