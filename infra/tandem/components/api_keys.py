"""The gateway's API keys, read from Secrets Manager into the engine as a secret value."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws

from tandem.errors import TandemError

API_KEY_NAMES = ("api_key", "admin_api_key")
"""Of the secret's JSON, and of the Kubernetes Secret made from it."""


def read_api_keys(secret_arn: str, opts: pulumi.InvokeOptions) -> pulumi.Output[dict[str, str]]:
    """`api_key` and `admin_api_key`, secret in state and in every output made from them.

    Raises `TandemError` where the secret holds something else; the value itself is never shown.
    """
    version = aws.secretsmanager.get_secret_version_output(secret_id=secret_arn, opts=opts)
    return pulumi.Output.secret(version.secret_string).apply(lambda text: parse_api_keys(text, secret_arn))


def parse_api_keys(text: str, secret_arn: str) -> dict[str, str]:
    """The two keys out of the secret's JSON. Raises `TandemError`."""
    try:
        value = json.loads(text)
        keys = {name: value[name] for name in API_KEY_NAMES}
    except (ValueError, KeyError, TypeError):
        keys = {}
    if not keys or not all(isinstance(key, str) and key for key in keys.values()):
        rule = 'must be JSON with the texts "api_key" and "admin_api_key"'
        # No cause: it would quote the secret.
        raise TandemError(f"secret {secret_arn}: (not shown) - {rule}. Run: tandem secrets put") from None
    if keys["api_key"] == keys["admin_api_key"]:
        rule = "clients hold api_key, so the key of administration must be another one"
        raise TandemError(f"secret {secret_arn}: (not shown) - {rule}. Run: tandem secrets put")
    return keys
