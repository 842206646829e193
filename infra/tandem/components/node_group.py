"""Nodes of one class."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from tandem.plan.node_groups import NodeGroupPlan
from tandem.plan.ports import Group

ROOT_DEVICE = "/dev/xvda"
"""Of AL2023 images."""


class NodeGroup(pulumi.ComponentResource):
    """Managed nodes of one instance type, with exactly the network interfaces that the plan lays out.

    Creates: launch template, node group.
    Cost: nodes x instance price; an idle node costs the same as a busy one.
    Replaced by: subnets, capacity type. Updated node by node: type, disks, interfaces, image. The number of nodes is
    not this stack's after creation.
    """

    name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        plan: NodeGroupPlan,
        *,
        cluster_name: pulumi.Input[str],
        kubernetes_version: pulumi.Input[str],
        role_arn: pulumi.Input[str],
        subnet_ids: Sequence[str],
        security_groups: Mapping[Group, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:compute:NodeGroup", name, {}, opts)
        self._name, self._plan = name, plan
        template = self._create_template(security_groups)
        group = aws.eks.NodeGroup(
            name,
            cluster_name=cluster_name,
            version=kubernetes_version,
            node_role_arn=role_arn,
            subnet_ids=list(subnet_ids),
            ami_type=plan.ami_type,
            release_version=plan.ami_release,
            capacity_type=plan.capacity_type,
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                # The number, not "$Latest": a new version must be a difference that a preview shows.
                id=template.id,
                version=template.latest_version.apply(str),
            ),
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=plan.nodes_min, max_size=plan.nodes_max, desired_size=plan.nodes
            ),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1, update_strategy=plan.update_strategy),
            node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            labels=plan.labels,
            taints=[
                aws.eks.NodeGroupTaintArgs(key=taint.key, value=taint.value, effect=taint.effect)
                for taint in plan.taints
            ],
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["scalingConfig.desiredSize"]),
        )
        self.name = group.node_group_name
        self.register_outputs({"name": self.name})

    def _create_template(self, security_groups: Mapping[Group, str]) -> aws.ec2.LaunchTemplate:
        plan = self._plan
        several = len(plan.interfaces) > 1
        return aws.ec2.LaunchTemplate(
            f"{self._name}-template",
            instance_type=plan.instance.type,
            update_default_version=True,
            block_device_mappings=[
                aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                    device_name=ROOT_DEVICE,
                    ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                        volume_type="gp3",
                        volume_size=plan.root_volume_gib,
                        throughput=plan.root_volume_mibps,
                        encrypted="true",
                        delete_on_termination="true",
                    ),
                )
            ],
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_endpoint="enabled",
                http_tokens="required",
                # Pods get their credentials from the Pod Identity agent, never from the node's own.
                http_put_response_hop_limit=1,
            ),
            network_interfaces=[
                aws.ec2.LaunchTemplateNetworkInterfaceArgs(
                    network_card_index=interface.card,
                    device_index=interface.device,
                    interface_type=interface.kind if several else None,
                    security_groups=[security_groups[group] for group in interface.groups],
                    delete_on_termination="true",
                )
                for interface in plan.interfaces
            ],
            capacity_reservation_specification=self._reservation(),
            instance_market_options=(
                aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block")
                if plan.capacity_type == "CAPACITY_BLOCK"
                else None
            ),
            user_data=base64.b64encode(plan.node_config.encode()).decode() if plan.node_config else None,
            tag_specifications=[
                aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags={"Name": self._name})
                for kind in ("instance", "volume")
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )

    def _reservation(self) -> aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs | None:
        if self._plan.reservation_id is None:
            return None
        return aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
            capacity_reservation_target=aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
                capacity_reservation_id=self._plan.reservation_id
            )
        )
