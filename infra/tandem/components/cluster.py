"""The EKS control plane."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_aws as aws

from tandem.components.service_role import ServiceRole
from tandem.plan.cluster import LOG_TYPES, ClusterPlan

ADMINISTRATOR_POLICY = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


class Cluster(pulumi.ComponentResource):
    """An EKS cluster with encrypted secrets, all five logs, a private endpoint and access by IAM only.

    Creates: role, log group, cluster, access entries of administrators.
    Cost: by the hour; six times as much in extended support.
    Replaced by: the name, the range of Services, the role. Updated in place: version (one minor at a time), access.
    """

    name: pulumi.Output[str]
    arn: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    ca_data: pulumi.Output[str]
    """PEM in base64."""
    version: pulumi.Output[str]
    oidc_issuer: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        plan: ClusterPlan,
        *,
        subnet_ids: Sequence[str],
        security_group_id: str,
        kms_key_arn: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:compute:Cluster", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        role = ServiceRole(
            f"{name}-role",
            role_name=plan.control_plane_role,
            service="eks.amazonaws.com",
            actions=("sts:AssumeRole", "sts:TagSession"),
            managed_policies=("AmazonEKSClusterPolicy",),
            opts=child,
        )
        # Made first: EKS would make one that keeps everything for ever.
        logs = aws.cloudwatch.LogGroup(
            f"{name}-logs", name=plan.log_group, retention_in_days=plan.log_retention_days, opts=child
        )
        cluster = aws.eks.Cluster(
            name,
            name=plan.name,
            version=plan.kubernetes_version,
            role_arn=role.arn,
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=list(subnet_ids),
                security_group_ids=[security_group_id],
                endpoint_private_access=True,
                endpoint_public_access=bool(plan.public_access),
                public_access_cidrs=list(plan.public_access) or None,
            ),
            kubernetes_network_config=aws.eks.ClusterKubernetesNetworkConfigArgs(
                service_ipv4_cidr=plan.service_cidr, ip_family="ipv4"
            ),
            access_config=aws.eks.ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            encryption_config=aws.eks.ClusterEncryptionConfigArgs(
                provider=aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=kms_key_arn), resources=["secrets"]
            ),
            enabled_cluster_log_types=list(LOG_TYPES),
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type=plan.support),
            zonal_shift_config=aws.eks.ClusterZonalShiftConfigArgs(enabled=True),
            # They are add-ons of this stack, with versions that somebody chose.
            bootstrap_self_managed_addons=False,
            deletion_protection=plan.deletion_protection,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*role.attachments, logs]),
        )
        self.name, self.arn, self.endpoint = cluster.name, cluster.arn, cluster.endpoint
        self.version = cluster.version
        self.ca_data = cluster.certificate_authority.apply(lambda authority: authority.data or "")
        self.oidc_issuer = cluster.identities.apply(lambda found: found[0].oidcs[0].issuer)
        self._admit(name, plan.administrators)
        self.register_outputs({"name": self.name, "endpoint": self.endpoint})

    def _admit(self, name: str, administrators: Sequence[str]) -> None:
        for arn in administrators:
            who = arn.rsplit("/", 1)[-1]
            entry = aws.eks.AccessEntry(
                f"{name}-{who}", cluster_name=self.name, principal_arn=arn, opts=pulumi.ResourceOptions(parent=self)
            )
            aws.eks.AccessPolicyAssociation(
                f"{name}-{who}-administers",
                cluster_name=self.name,
                principal_arn=arn,
                policy_arn=ADMINISTRATOR_POLICY,
                access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                # Created first, its delete would take the new one away: both have the same address.
                opts=pulumi.ResourceOptions(parent=self, depends_on=[entry], delete_before_replace=True),
            )
