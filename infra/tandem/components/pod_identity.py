"""What the pods of a service account may do in AWS."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.components.policy_document import Statement
from tandem.components.service_role import ServiceRole
from tandem.plan.cluster import IdentityPlan


class PodIdentity(pulumi.ComponentResource):
    """A role that the pods of one service account get credentials of.

    Creates: role, association.
    Cost: none.
    Replaced by: namespace, service account.
    """

    def __init__(
        self,
        name: str,
        plan: IdentityPlan,
        *,
        cluster_name: pulumi.Input[str],
        weights_bucket_arn: str,
        kms_key_arn: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:compute:PodIdentity", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        reads: list[Statement] = [
            {"Sid": "List", "Effect": "Allow", "Action": "s3:ListBucket", "Resource": weights_bucket_arn},
            {"Sid": "Read", "Effect": "Allow", "Action": "s3:GetObject*", "Resource": f"{weights_bucket_arn}/*"},
            {"Sid": "Decrypt", "Effect": "Allow", "Action": "kms:Decrypt", "Resource": kms_key_arn},
        ]
        role = ServiceRole(
            f"{name}-role",
            role_name=plan.name,
            service="pods.eks.amazonaws.com",
            actions=("sts:AssumeRole", "sts:TagSession"),
            managed_policies=(plan.managed_policy,) if plan.managed_policy else (),
            statements=reads if plan.reads_weights else (),
            opts=child,
        )
        aws.eks.PodIdentityAssociation(
            name,
            cluster_name=cluster_name,
            namespace=plan.namespace,
            service_account=plan.service_account,
            role_arn=role.arn,
            opts=pulumi.ResourceOptions(parent=self, depends_on=role.attachments),
        )
        self.register_outputs({})
