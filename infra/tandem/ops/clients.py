"""AWS clients as an environment's variables reach it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import boto3
from botocore.config import Config


def client(service: str, variables: Mapping[str, str], region: str | None = None, config: Config | None = None) -> Any:
    """A boto3 client; `region` is the home site's where none is given. Variables that are not there are the shell's own."""
    session = boto3.session.Session(
        aws_access_key_id=variables.get("AWS_ACCESS_KEY_ID"),
        aws_secret_access_key=variables.get("AWS_SECRET_ACCESS_KEY"),
        region_name=region or variables.get("AWS_REGION"),
    )
    return session.client(service, endpoint_url=variables.get("AWS_ENDPOINT_URL"), config=config)
