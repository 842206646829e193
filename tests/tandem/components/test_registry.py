"""What a registry stack declares."""

from __future__ import annotations

import json

from tandem.outputs.registry import RegistryOutputs

from tests.tandem.components.conftest import BuildStack


def test_checkpoints_are_versioned_encrypted_and_closed(build: BuildStack) -> None:
    registry = build("dev-registry")
    assert registry.one("BucketVersioning").inputs["versioningConfiguration"]["status"] == "Enabled"
    (rule,) = registry.one("BucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "aws:kms"
    block = registry.one("BucketPublicAccessBlock").inputs
    assert all(block[key] for key in ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls"))


def test_checkpoints_come_over_tls_only_where_the_endpoint_is_not_this_machine(build: BuildStack) -> None:
    (statement,) = json.loads(build("dev-registry").one("BucketPolicy").inputs["policy"])["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert build("local-registry").of("BucketPolicy") == []


def test_a_real_environment_never_deletes_what_it_keeps_on_the_way(build: BuildStack) -> None:
    registry = build("dev-registry")
    assert registry.one("s3/bucket:Bucket").inputs["forceDestroy"] is False
    assert {repository.inputs["forceDelete"] for repository in registry.of("Repository")} == {False}
    assert registry.one("Secret").inputs["recoveryWindowInDays"] == 30
    assert build("local-registry").one("Secret").inputs["recoveryWindowInDays"] == 0


def test_tags_of_images_never_move(build: BuildStack) -> None:
    mutability = {repository.inputs["imageTagMutability"] for repository in build("dev-registry").of("Repository")}
    assert mutability == {"IMMUTABLE"}


def test_the_secret_has_no_value_here(build: BuildStack) -> None:
    registry = build("dev-registry")
    assert registry.of("SecretVersion") == []
    assert "secretString" not in registry.one("Secret").inputs


def test_a_budget_counts_the_environments_own_bill(build: BuildStack) -> None:
    budget = build("dev-registry").one("Budget").inputs
    assert budget["costFilters"] == [{"name": "TagKeyValue", "values": ["user:tandem:environment$dev"]}]
    assert {note["notificationType"] for note in budget["notifications"]} == {"FORECASTED", "ACTUAL"}


def test_the_contract_names_every_repository(build: BuildStack) -> None:
    outputs = RegistryOutputs.model_validate(build("local-registry").exported["registry"])
    assert set(outputs.repositories) == {"engine-sim", "gateway", "sglang"}
    assert outputs.repositories["engine-sim"].endswith("/engine-sim")
    assert outputs.api_keys_secret_name == "tandem/local/home/gateway-api-keys"
