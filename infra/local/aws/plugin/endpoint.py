"""Where calls may go: this machine or the local cloud's own network, and nowhere else."""

from __future__ import annotations

import ipaddress
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

LOCAL_NETWORKS = tuple(ipaddress.ip_network(cidr) for cidr in ("127.0.0.0/8", "::1/128", "198.19.0.0/24"))
"""Loopback, and the backbone of the local cloud, which has no route out."""
ANSWER_TIMEOUT_SECONDS = 20.0
"""How long the local server may take for its first answer: it may still be replaying its journal."""


class Refused(Exception):
    """The configuration points at something that is not the local cloud."""


def checked(url: str | None, where: str) -> str:
    """`url` without a trailing slash. Refused unless its host is an address of this machine or of the local cloud."""
    if not url:
        raise Refused(
            f"{where}: no endpoint - this aws plugin is a stand-in and never calls AWS. "
            'Run `eval "$(tandem env local)"`, or use the official plugin for a real account.'
        )
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    if urlsplit(url).scheme in ("http", "https") and host is not None and _is_local(host):
        return url.rstrip("/")
    raise Refused(
        f"{where}: {url} - the stand-in only talks to loopback or 198.19.0.0/24. "
        "Point it at the local cloud, or use the official plugin for a real account."
    )


def _is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        # A name could resolve to anything, later to something else.
        return False
    return any(address.version == network.version and address in network for network in LOCAL_NETWORKS)


def configured(arguments: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The one endpoint of a provider configuration. All services share it; every given one is checked."""
    given = [
        checked(url, f"endpoints[{index}].{service}")
        for index, entry in enumerate(arguments.get("endpoints") or [])
        for service, url in entry.items()
        if url
    ]
    for name, value in environment.items():
        if name.startswith("AWS_ENDPOINT_URL_"):
            checked(value, name)
    if given and len(set(given)) > 1:
        raise Refused(f"endpoints: {', '.join(sorted(set(given)))} - the local cloud has one endpoint. Name just one.")
    return given[0] if given else checked(environment.get("AWS_ENDPOINT_URL"), "AWS_ENDPOINT_URL")


def account_at(endpoint: str, region: str) -> str:
    """The account behind `endpoint`, asked of its STS. Refused when nobody answers.

    Asked without boto3: loading that takes longer than the whole preview of a small stack.
    """
    request = urllib.request.Request(
        f"{endpoint}/",
        data=b"Action=GetCallerIdentity&Version=2011-06-15",
        headers={
            "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
            "Authorization": f"AWS4-HMAC-SHA256 Credential=local/20260101/{region}/sts/aws4_request, Signature=local",
        },
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=ANSWER_TIMEOUT_SECONDS) as answer:
            text = answer.read().decode()
    except (OSError, urllib.error.URLError) as error:
        raise Refused(f"{endpoint}: no answer - {error}. Start the local cloud: `tandem up local`.") from error
    return str(text.partition("<Account>")[2].partition("</Account>")[0])
