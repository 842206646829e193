"""The API keys of a site, in the Secrets Manager secret that its registry stack owns."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from tandem.errors import CloudUnavailable, TandemError
from tandem.ops import clients


@dataclass(frozen=True, repr=False)
class ApiKeys:
    """`api_key` is what clients send; `admin_api_key` guards the engines' and the gateway's own administration."""

    api_key: str
    admin_api_key: str


def ensure(secret: str, variables: Mapping[str, str]) -> bool:
    """Puts fresh random keys where the secret has no value yet. True when it did."""
    client = clients.client("secretsmanager", variables)
    try:
        client.get_secret_value(SecretId=secret)
    except client.exceptions.ResourceNotFoundException:
        keys = {"api_key": secrets.token_urlsafe(32), "admin_api_key": secrets.token_urlsafe(32)}
        _put(client, secret, keys)
        return True
    return False


def put(secret: str, keys: ApiKeys, variables: Mapping[str, str]) -> None:
    """Stores the keys as the secret's next version."""
    _put(
        clients.client("secretsmanager", variables),
        secret,
        {"api_key": keys.api_key, "admin_api_key": keys.admin_api_key},
    )


def read(secret: str, variables: Mapping[str, str]) -> ApiKeys:
    """The current keys. Raises `TandemError` when there are none."""
    client = clients.client("secretsmanager", variables)
    try:
        value = json.loads(client.get_secret_value(SecretId=secret)["SecretString"])
        return ApiKeys(value["api_key"], value["admin_api_key"])
    except client.exceptions.ResourceNotFoundException as error:
        raise TandemError(
            f"secret {secret}: has no value - the gateway needs its keys. Run: tandem secrets put"
        ) from error
    except (BotoCoreError, ClientError) as error:
        raise CloudUnavailable(f"secret {secret}: {error}") from error
    except (KeyError, ValueError) as error:
        rule = 'must be JSON with "api_key" and "admin_api_key"'
        raise TandemError(f"secret {secret}: (not shown) - {rule}. Run: tandem secrets put") from error


def _put(client: Any, secret: str, keys: Mapping[str, str]) -> None:
    client.put_secret_value(SecretId=secret, SecretString=json.dumps(keys))
