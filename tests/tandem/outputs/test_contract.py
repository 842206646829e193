"""What stacks tell one another."""

from __future__ import annotations

import pytest
from tandem.errors import PlanError
from tandem.outputs import contract
from tandem.outputs.registry import RegistryOutputs

VALUE = {
    "version": RegistryOutputs.VERSION,
    "weights_bucket": "b",
    "weights_bucket_arn": "arn:aws:s3:::b",
    "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/k",
    "repositories": {"gateway": "host/gateway"},
    "api_keys_secret_arn": "arn",
    "api_keys_secret_name": "name",
}


def test_a_contract_is_read_as_it_was_written() -> None:
    read = contract.parse(RegistryOutputs, "dev-registry", {"registry": VALUE, "other": 1})
    assert read.model_dump(mode="json") == VALUE


def test_a_stack_that_was_not_applied_names_the_command_that_does_it() -> None:
    with pytest.raises(
        contract.NotApplied, match=r"dev-registry: gives nothing - .*not applied yet\. Run: pulumi up -s dev-registry"
    ):
        contract.parse(RegistryOutputs, "dev-registry", {})


def test_outputs_of_another_version_are_refused() -> None:
    with pytest.raises(PlanError, match="version 0 - its registry outputs are of another release"):
        contract.parse(RegistryOutputs, "dev-registry", {"registry": VALUE | {"version": 0}})


def test_outputs_of_another_shape_are_refused() -> None:
    with pytest.raises(PlanError, match="weights_bucket: Input should be a valid string"):
        contract.parse(RegistryOutputs, "dev-registry", {"registry": VALUE | {"weights_bucket": None}})


def test_a_field_that_is_forgotten_is_found_where_the_program_is_written() -> None:
    with pytest.raises(TypeError, match="differ in api_keys_secret_arn"):
        contract.export(
            RegistryOutputs, **{k: v for k, v in VALUE.items() if k not in ("version", "api_keys_secret_arn")}
        )
