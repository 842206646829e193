"""EFA layouts against what EC2 says of the same types, as moto recorded it from DescribeInstanceTypes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws
from tandem.config.base import NodeClass
from tandem.config.cluster import NodeGroupConfig
from tandem.facts import efa
from tandem.facts.instances import instances
from tandem.plan.node_groups import plan_interfaces


@pytest.fixture(scope="module")
def network_of() -> Iterator[dict[str, dict[str, Any]]]:
    """Instance type -> its NetworkInfo, for every type that Tandem has numbers of."""
    with mock_aws():
        client = boto3.client(
            "ec2", region_name="us-east-1", aws_access_key_id="simulated", aws_secret_access_key="simulated"
        )
        pages = client.get_paginator("describe_instance_types").paginate(
            Filters=[{"Name": "instance-type", "Values": sorted(instances())}]
        )
        yield {found["InstanceType"]: found["NetworkInfo"] for page in pages for found in page["InstanceTypes"]}


def test_ec2_and_the_facts_name_the_same_gpu_types_with_efa(network_of: dict[str, dict[str, Any]]) -> None:
    gpu = {name for name, instance in instances().items() if instance.accelerator is not None}
    assert set(efa.layouts()) <= set(network_of), "a layout of a type that EC2 does not describe is not checked"
    assert {name for name in gpu & set(network_of) if network_of[name]["EfaSupported"]} == set(efa.layouts()) & gpu


@pytest.mark.parametrize("instance_type", sorted(efa.layouts()))
def test_a_layout_has_the_cards_and_efa_interfaces_that_ec2_reports(
    instance_type: str, network_of: dict[str, dict[str, Any]]
) -> None:
    layout, network = efa.layouts()[instance_type], network_of[instance_type]
    assert layout.network_cards == network["MaximumNetworkCards"]
    assert layout.devices == network["EfaInfo"]["MaximumEfaInterfaces"]


@pytest.mark.parametrize("instance_type", sorted(efa.layouts()))
def test_no_card_gets_more_interfaces_than_ec2_allows_it(
    instance_type: str, network_of: dict[str, dict[str, Any]]
) -> None:
    described = {"node_class": NodeClass.COMPUTE, "instance_type": instance_type, "nodes_min": 1, "nodes": 1}
    interfaces = plan_interfaces(NodeGroupConfig.model_validate(described | {"nodes_max": 1}))
    most = {
        card["NetworkCardIndex"]: card["MaximumNetworkInterfaces"] for card in network_of[instance_type]["NetworkCards"]
    }
    for interface in interfaces:
        assert interface.device < most[interface.card], f"card {interface.card} has no device {interface.device}"
    assert (
        sum(interface.kind == "efa-only" for interface in interfaces)
        == network_of[instance_type]["EfaInfo"]["MaximumEfaInterfaces"]
    )
