"""Composes a cluster stack."""

from __future__ import annotations

from typing import Any

import pulumi

from tandem.components.addons import Addons
from tandem.components.cluster import Cluster
from tandem.components.node_group import NodeGroup
from tandem.components.pod_identity import PodIdentity
from tandem.components.provider import aws_provider
from tandem.components.service_role import ServiceRole
from tandem.config.cluster import ClusterStack
from tandem.outputs import contract
from tandem.outputs.cluster import ClusterOutputs
from tandem.plan.cluster import plan_cluster
from tandem.plan.node_groups import NodeGroupPlan
from tandem.plan.ports import Group
from tandem.programs import upstream


def build(stack: ClusterStack) -> None:
    """Declares everything of the stack."""
    network = upstream.network(stack.uses["network"])
    registry = upstream.registry(stack.uses["registry"])
    plan = plan_cluster(
        stack,
        zones=tuple(subnet.zone_id for subnet in network.subnets_for("private")),
        kv_zone_id=network.kv_zone_id,
        vpc_cidr=network.vpc_cidr,
        at=f"stacks/Pulumi.{pulumi.get_stack()}.yaml: tandem:stack",
    )
    groups = {group: network.security_groups[group] for group in Group}
    opts = pulumi.ResourceOptions(providers={"aws": aws_provider(stack)})
    cluster = Cluster(
        "cluster",
        plan,
        subnet_ids=[subnet.id for subnet in network.subnets_for("control-plane")],
        security_group_id=groups[Group.CONTROL_PLANE],
        kms_key_arn=registry.kms_key_arn,
        opts=opts,
    )
    first = Addons("addon-before", plan.addons_before_nodes, cluster_name=cluster.name, opts=opts)
    identities = [
        PodIdentity(
            f"identity-{identity.service_account}",
            identity,
            cluster_name=cluster.name,
            weights_bucket_arn=registry.weights_bucket_arn,
            kms_key_arn=registry.kms_key_arn,
            opts=opts,
        )
        for identity in plan.identities
    ]
    role = ServiceRole(
        "nodes", role_name=plan.node_role, service="ec2.amazonaws.com", managed_policies=plan.node_policies, opts=opts
    )
    after = pulumi.ResourceOptions.merge(
        opts, pulumi.ResourceOptions(depends_on=[*role.attachments, first, *identities])
    )
    node_groups = [
        NodeGroup(
            group.name,
            group,
            cluster_name=cluster.name,
            kubernetes_version=plan.kubernetes_version,
            role_arn=role.arn,
            subnet_ids=[s.id for s in network.subnets_for("private") if s.zone_id in group.zone_ids],
            security_groups=groups,
            opts=after,
        )
        for group in plan.node_groups
    ]
    Addons(
        "addon-after",
        plan.addons_after_nodes,
        cluster_name=cluster.name,
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=node_groups)),
    )
    contract.export(
        ClusterOutputs,
        name=cluster.name,
        arn=cluster.arn,
        endpoint=cluster.endpoint,
        ca_data=cluster.ca_data,
        kubernetes_version=cluster.version,
        oidc_issuer=cluster.oidc_issuer,
        kv_zone_id=plan.kv_zone_id,
        node_groups=[_described(group, made) for group, made in zip(plan.node_groups, node_groups, strict=True)],
    )


def _described(plan: NodeGroupPlan, made: NodeGroup) -> pulumi.Output[dict[str, Any]]:
    return made.name.apply(lambda name: upstream.node_group(plan, name).model_dump(mode="json"))
