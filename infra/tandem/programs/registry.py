"""Composes a registry stack."""

from __future__ import annotations

import pulumi

from tandem.components.api_keys_secret import ApiKeysSecret
from tandem.components.budget import Budget
from tandem.components.encryption_key import EncryptionKey
from tandem.components.provider import aws_provider
from tandem.components.repository import Repository
from tandem.components.weights_bucket import WeightsBucket
from tandem.config.registry import RegistryStack
from tandem.outputs import contract
from tandem.outputs.registry import RegistryOutputs
from tandem.plan.registry import plan_registry


def build(stack: RegistryStack) -> None:
    """Declares everything of the stack."""
    plan = plan_registry(stack)
    opts = pulumi.ResourceOptions(providers={"aws": aws_provider(stack)})
    key = EncryptionKey(
        "key",
        alias=plan.key_alias,
        description=f"{plan.prefix}: checkpoints, images, API keys, cluster secrets",
        deletion_days=plan.key_deletion_days,
        protect=not plan.disposable,
        opts=opts,
    )
    weights = WeightsBucket("weights", plan, kms_key_arn=key.arn, opts=opts)
    repositories = {
        image: Repository(
            image,
            repository_name=name,
            kms_key_arn=key.arn,
            untagged_days=plan.untagged_images_days,
            disposable=plan.disposable,
            opts=opts,
        )
        for image, name in plan.repositories.items()
    }
    secret = ApiKeysSecret(
        "api-keys",
        secret_name=plan.api_keys_secret,
        kms_key_arn=key.arn,
        recovery_days=plan.secret_recovery_days,
        opts=opts,
    )
    if plan.budget is not None:
        Budget("budget", plan.budget, environment=stack.environment, opts=opts)
    contract.export(
        RegistryOutputs,
        weights_bucket=weights.name,
        weights_bucket_arn=weights.arn,
        kms_key_arn=key.arn,
        repositories={image: repository.url for image, repository in repositories.items()},
        api_keys_secret_arn=secret.arn,
        api_keys_secret_name=secret.secret_name,
    )
