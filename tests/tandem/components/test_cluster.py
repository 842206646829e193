"""What a cluster stack declares."""

from __future__ import annotations

import json

from tandem.config.base import NodeClass
from tandem.outputs.cluster import ClusterOutputs

from tests.tandem.components.conftest import BuildStack


def test_the_control_plane_is_closed_encrypted_and_logged(build: BuildStack) -> None:
    cluster = build("dev-cluster").one("eks/cluster:Cluster").inputs
    assert cluster["vpcConfig"]["endpointPrivateAccess"] is True
    assert cluster["vpcConfig"]["publicAccessCidrs"] == ["203.0.113.0/24"]
    assert cluster["encryptionConfig"]["resources"] == ["secrets"]
    assert len(cluster["enabledClusterLogTypes"]) == 5
    assert cluster["accessConfig"] == {
        "authenticationMode": "API",
        "bootstrapClusterCreatorAdminPermissions": False,
    }
    assert cluster["deletionProtection"] is True


def test_a_cluster_without_public_access_has_no_public_endpoint(build: BuildStack) -> None:
    config = build("local-cluster").one("eks/cluster:Cluster").inputs["vpcConfig"]
    assert config["endpointPublicAccess"] is False


def test_control_plane_and_nodes_stand_in_different_subnets(build: BuildStack) -> None:
    cluster = build("dev-cluster")
    control = set(cluster.one("eks/cluster:Cluster").inputs["vpcConfig"]["subnetIds"])
    nodes = {subnet for group in cluster.of("NodeGroup") for subnet in group.inputs["subnetIds"]}
    assert control and nodes and control.isdisjoint(nodes)


def test_gpu_nodes_stand_in_one_subnet_of_the_kv_zone(build: BuildStack) -> None:
    groups = {group.name: group.inputs["subnetIds"] for group in build("dev-cluster").of("NodeGroup")}
    assert groups["compute"] == groups["bandwidth"] == ["vpc-private-use1-az4-id"]
    assert len(groups["system"]) == 2


def test_a_launch_template_holds_nothing_that_eks_refuses(build: BuildStack) -> None:
    for template in build("dev-cluster").of("LaunchTemplate"):
        assert {"iamInstanceProfile", "imageId"}.isdisjoint(template.inputs)
        for interface in template.inputs["networkInterfaces"]:
            assert {"subnetId", "associatePublicIpAddress"}.isdisjoint(interface)
        assert template.inputs["metadataOptions"]["httpTokens"] == "required"
        disk = template.inputs["blockDeviceMappings"][0]["ebs"]
        assert (disk["volumeType"], disk["encrypted"], disk["volumeSize"]) == ("gp3", "true", 200)


def test_efa_devices_carry_the_efa_group_alone(build: BuildStack) -> None:
    template = next(t for t in build("dev-cluster").of("LaunchTemplate") if t.name == "bandwidth-template")
    kinds = [(i["interfaceType"], i["securityGroups"]) for i in template.inputs["networkInterfaces"]]
    assert kinds == [
        ("interface", ["group-nodes-id", "group-decode-id"]),
        ("efa-only", ["group-efa-id"]),
        ("efa-only", ["group-efa-id"]),
    ]


def test_a_node_group_refers_to_its_templates_version_by_number(build: BuildStack) -> None:
    for group in build("dev-cluster").of("NodeGroup"):
        assert group.inputs["launchTemplate"]["version"] == "1"
        assert "instanceTypes" not in group.inputs, "a change of it would replace the group"
        assert "nodeGroupName" not in group.inputs, "a fixed name cannot be replaced without a gap"


def test_nodes_reach_aws_by_as_little_as_they_need(build: BuildStack) -> None:
    attached = {a.inputs["policyArn"].rsplit("/", 1)[-1] for a in build("dev-cluster").of("RolePolicyAttachment")}
    assert "AmazonEC2ContainerRegistryPullOnly" in attached
    assert not any("FullAccess" in policy or "Administrator" in policy for policy in attached)


def test_engines_read_checkpoints_and_nothing_else(build: BuildStack) -> None:
    statements = json.loads(build("dev-cluster").one("iam/rolePolicy:RolePolicy").inputs["policy"])["Statement"]
    assert {s["Action"] for s in statements} == {"s3:ListBucket", "s3:GetObject*", "kms:Decrypt"}
    assert all(s["Resource"] != "*" for s in statements)


def test_an_administrator_gets_an_entry_and_a_policy(build: BuildStack) -> None:
    cluster = build("dev-cluster")
    assert cluster.one("AccessEntry").inputs["principalArn"].endswith("role/platform-engineer")
    assert cluster.one("AccessPolicyAssociation").inputs["policyArn"].endswith("AmazonEKSClusterAdminPolicy")


def test_the_contract_tells_what_the_serving_stack_plans_with(build: BuildStack) -> None:
    outputs = ClusterOutputs.model_validate(build("local-cluster").exported["cluster"])
    (decode,) = outputs.groups_of(NodeClass.BANDWIDTH)
    assert (decode.instance_type, decode.gpus, decode.accelerator, decode.nodes_max) == ("p5en.48xlarge", 8, "H200", 4)
    assert decode.efa_interfaces == 0, "switched off in the stack file"
    assert outputs.ca_data == "Y2E="
