"""What the aws stand-in refuses, as the engine's user reads it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws
import pytest

from tests.local.aws.engine_stack import EngineStack, Run
from tests.local.aws.server_process import ServerProcess

pytestmark = pytest.mark.engine
VPC = "aws:ec2/vpc:Vpc"


def program(kind: str, *inputs: dict[str, Any], **provider: Any) -> Callable[[], None]:
    """One resource of the type for each of the inputs; `provider` are its arguments."""

    def run() -> None:
        aws = pulumi_aws.Provider("aws", **{"region": "us-east-1", **provider})
        for number, given in enumerate(inputs, start=1):
            pulumi.CustomResource(kind, f"resource-{number}", dict(given), pulumi.ResourceOptions(provider=aws))

    return run


def refusal(folder: Path, endpoint: str, of: Callable[[], None]) -> Run:
    """What the engine says to the preview of a program, which must fail."""
    stack = EngineStack(folder, "refused", endpoint)
    stack.program = of
    run = stack.preview()
    assert run.messages, "the preview failed"
    return run


def text(run: Run) -> str:
    return "\n".join([*run.messages, *(message for outcome in run.values() for message in outcome.messages)])


def test_a_misspelt_input_is_refused_and_the_near_one_is_named(tmp_path: Path, server: ServerProcess) -> None:
    given = {"cidrBlok": "10.0.0.0/16", "enableDnsSupport": "yes", "tags": ["no"]}
    said = text(refusal(tmp_path, server.url, program(VPC, given)))
    assert "cidrBlok" in said and "Did you mean cidrBlock?" in said
    assert "enableDnsSupport" in said and "a string was given where a boolean is meant" in said
    assert "tags" in said and "a list was given where a map is meant" in said, "all faults at once"
    assert "Traceback" not in said


def test_a_misspelt_input_inside_a_block_is_refused_by_its_path(tmp_path: Path, server: ServerProcess) -> None:
    given = {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumSize": 1}}]}
    said = text(refusal(tmp_path, server.url, program("aws:ec2/launchTemplate:LaunchTemplate", given)))
    assert "blockDeviceMappings[0].ebs.volumSize" in said and "volumeSize" in said


def test_a_missing_input_is_refused(tmp_path: Path, server: ServerProcess) -> None:
    said = text(refusal(tmp_path, server.url, program("aws:ec2/routeTable:RouteTable", {})))
    assert "vpcId" in said and "required" in said


def test_a_type_that_the_stand_in_lacks_is_refused_by_name(tmp_path: Path, server: ServerProcess) -> None:
    said = text(refusal(tmp_path, server.url, program("aws:sns/topic:Topic", {})))
    assert "aws:sns/topic:Topic: the local stand-in for AWS does not have this type" in said


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://ec2.us-east-1.amazonaws.com",
        "http://192.0.2.1:4566",
        "http://10.0.0.1:4566",
        "http://moto.example.com",
        "http://127.0.0.1.example.com:4566",
        "http://127.0.0.1@192.0.2.1:4566",
        "file:///etc/passwd",
    ],
)
def test_an_endpoint_that_is_not_local_is_refused(tmp_path: Path, endpoint: str) -> None:
    said = text(refusal(tmp_path, endpoint, program(VPC, {"cidrBlock": "10.0.0.0/16"})))
    assert f"{endpoint} - the stand-in only talks to loopback" in said
    assert "Traceback" not in said


def test_an_endpoint_of_the_program_is_checked_as_well(tmp_path: Path, server: ServerProcess) -> None:
    there = [{"ec2": "https://ec2.us-east-1.amazonaws.com"}]
    said = text(refusal(tmp_path, server.url, program(VPC, {"cidrBlock": "10.0.0.0/16"}, endpoints=there)))
    assert "endpoints[0].ec2: https://ec2.us-east-1.amazonaws.com - the stand-in only talks to loopback" in said


def test_another_account_than_the_program_allows_is_refused(tmp_path: Path, server: ServerProcess) -> None:
    other = program(VPC, {"cidrBlock": "10.0.0.0/16"}, allowed_account_ids=["999999999999"])
    said = text(refusal(tmp_path, server.url, other))
    assert "aws:allowedAccountIds" in said and "123456789012" in said


def test_nobody_at_the_endpoint_is_said_with_the_way_on(tmp_path: Path, server: ServerProcess) -> None:
    server_gone = "http://127.0.0.1:9"  # discard: nothing listens there
    said = text(refusal(tmp_path, server_gone, program(VPC, {"cidrBlock": "10.0.0.0/16"})))
    assert "no answer" in said and "tandem up local" in said
