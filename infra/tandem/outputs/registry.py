"""What a registry stack gives to the other stacks of its environment."""

from __future__ import annotations

from typing import ClassVar

from tandem.outputs.contract import Contract


class RegistryOutputs(Contract):
    """Where checkpoints, images and keys are."""

    KIND: ClassVar[str] = "registry"
    VERSION: ClassVar[int] = 1

    weights_bucket: str
    weights_bucket_arn: str
    kms_key_arn: str
    """Encrypts checkpoints, images, keys and the cluster's secrets."""
    repositories: dict[str, str]
    """Image name -> repository URL without a tag."""
    api_keys_secret_arn: str
    api_keys_secret_name: str
    """The Secrets Manager secret with the gateway's API keys. Its value is in no output."""
