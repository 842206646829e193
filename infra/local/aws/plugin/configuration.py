"""The provider's own configuration: what the program gave, and the session that follows from it."""

from __future__ import annotations

import json
import os

from local.aws.plugin import endpoint, schema
from local.aws.plugin.cloud import Session
from local.aws.plugin.handler import Properties
from local.aws.plugin.schema import Failure
from local.aws.plugin.wire import UNKNOWN


def provider_arguments(values: Properties) -> tuple[Properties, list[Failure]]:
    """Provider configuration travels as JSON texts; give the values back."""
    properties = schema.provider_properties()
    arguments, found = {}, []
    for key, value in values.items():
        if key == "version" or key.startswith("__") or value is None:
            continue
        expected = properties.get(key, {}).get("type", "string")
        if isinstance(value, str) and expected != "string":
            try:
                value = json.loads(value)
            except ValueError:
                found.append(Failure(key, "this is not the JSON text of such a value."))
                continue
        arguments[key] = value
    return arguments, found


def new_session(arguments: Properties) -> Session:
    """What a configuration leads to. `endpoint.Refused` where it may not lead there."""
    url = endpoint.configured(arguments, os.environ)
    region = arguments.get("region") or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not region or region is UNKNOWN:
        raise endpoint.Refused("aws:region: nothing - the provider needs a region. Give the provider one.")
    account = endpoint.account_at(url, region)
    allowed, forbidden = arguments.get("allowedAccountIds"), arguments.get("forbiddenAccountIds") or []
    if (allowed and account not in allowed) or account in forbidden:
        raise endpoint.Refused(
            f"aws:allowedAccountIds: {allowed or forbidden} - {url} answers as account {account}, which this provider may "
            "not touch. Use the endpoint and credentials of the account that the stack names."
        )
    tags = (arguments.get("defaultTags") or {}).get("tags") or {}
    return Session(endpoint=url, account=account, region=region, default_tags=dict(tags))
