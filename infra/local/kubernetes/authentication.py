"""The API server's token webhook: knows callers by the tokens that EKS takes, a presigned STS request in base64, and by access entries.

`python -m local.kubernetes.authentication --aws URL ...` serves https://127.0.0.1:6444/token. Whom a token stands for is asked of
moto's STS, which checks no signature: who may call it is decided by who can reach the door, that is, by this machine's users.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import http.server
import json
import ssl
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

from local import limits
from local.aws.server import recorded
from local.paths import RegionPaths

PREFIX = "k8s-aws-v1."
CLUSTER_HEADER = "x-k8s-aws-id"
LIFETIME = timedelta(minutes=15)
"""How long EKS takes a token after its date."""
SKEW = timedelta(minutes=5)


ENTRY = "aws:eks/accessEntry:AccessEntry"
ASSOCIATION = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
ADMINISTRATOR = "AmazonEKSClusterAdminPolicy"

Entries = Mapping[str, tuple[str, ...]]
"""Principal's ARN -> the Kubernetes groups that it is in."""


class Refused(Exception):
    """The token stands for nobody; says why."""


@dataclass(frozen=True)
class Claim:
    """What a token says."""

    access_key: str
    region: str


def decode(token: str, now: datetime) -> Claim:
    """The token's claim. Raises `Refused` for a token of another form, or one that is too old."""
    if not token.startswith(PREFIX):
        raise Refused(f"the token does not begin with {PREFIX}")
    encoded = token.removeprefix(PREFIX)
    try:
        url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode())
        query = {key.lower(): values[0] for key, values in parse_qs(url.query).items()}
        credential = query["x-amz-credential"].split("/")
        dated = datetime.strptime(query["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except (binascii.Error, ValueError, KeyError) as error:
        raise Refused("the token holds no presigned request") from error
    if query.get("action") != "GetCallerIdentity":
        raise Refused("the request in the token is not GetCallerIdentity")
    if CLUSTER_HEADER not in query.get("x-amz-signedheaders", "").split(";"):
        raise Refused(f"the token is for no cluster: {CLUSTER_HEADER} is not signed")
    if not now - LIFETIME <= dated <= now + SKEW:
        raise Refused("the token's time is over")
    if len(credential) < 5:
        raise Refused("the token's credential scope is not whole")
    return Claim(credential[0], credential[2])


def principal(arn: str) -> str:
    """The IAM user or role behind a caller's ARN, as an access entry names it."""
    _, partition, service, _, account, resource = arn.split(":", 5)
    kind, _, name = resource.partition("/")
    if service == "sts" and kind == "assumed-role":
        kind, name = "role", name.partition("/")[0]
    return f"arn:{partition}:iam::{account}:{kind}/{name}"


def review(token: str, now: datetime, caller: Callable[[Claim], str], entries: Callable[[], Entries]) -> dict[str, Any]:
    """Status of a TokenReview. `caller` gives the ARN behind a claim, `entries` the cluster's access entries."""
    try:
        arn = caller(decode(token, now))
        who = principal(arn)
        groups = entries().get(who)
        if groups is None:
            raise Refused(f"{who} has no access entry in this cluster")
    except Refused as refusal:
        return {"authenticated": False, "error": str(refusal)}
    return {"authenticated": True, "user": {"username": arn, "uid": arn, "groups": list(groups)}}


def sts_caller(endpoint: str) -> Callable[[Claim], str]:
    """Asks moto's STS."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    def ask(claim: Claim) -> str:
        session = boto3.session.Session(claim.access_key, "unknown", region_name=claim.region)
        try:
            return str(session.client("sts", endpoint_url=endpoint).get_caller_identity()["Arn"])
        except (BotoCoreError, ClientError) as error:
            raise Refused(f"STS does not know the caller: {error}") from error

    return ask


def read_entries(records: Iterable[Mapping[str, Any]], region: str) -> Entries:
    """Access entries among what the local AWS recorded. A record's id holds cluster, principal and policy. Pure."""
    here = [record for record in records if record["region"] == region]
    entries: dict[str, tuple[str, ...]] = {
        record["id"].partition(":")[2]: () for record in here if record["type"] == ENTRY
    }
    for record in here:
        if record["type"] == ASSOCIATION:
            _, who, policy = record["id"].split("#")
            if who in entries and policy.endswith(f"/{ADMINISTRATOR}"):
                entries[who] = ("system:masters",)
    return entries


def recorded_entries(endpoint: str, region: str) -> Callable[[], Entries]:
    """Asks the local AWS for them, which keeps what moto lacks."""

    def ask() -> Entries:
        try:
            with urlopen(f"{endpoint}{recorded.PREFIX}", timeout=limits.PROBE_SECONDS * 2) as answer:
                return read_entries(json.load(answer)["recorded"], region)
        except (OSError, ValueError) as error:
            raise Refused(f"AWS does not tell the cluster's access entries: {error}") from error

    return ask


class _Handler(http.server.BaseHTTPRequestHandler):
    caller: Callable[[Claim], str]
    entries: Callable[[], Entries]

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        try:
            asked = json.loads(self.rfile.read(length))
            token = str(asked["spec"]["token"])
        except (ValueError, KeyError, TypeError):
            self.send_error(400, "not a TokenReview")
            return
        status = review(token, datetime.now(UTC), type(self).caller, type(self).entries)
        body = json.dumps({"apiVersion": asked.get("apiVersion"), "kind": "TokenReview", "status": status}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a request holds a token."""


def main() -> int:
    """Serves until it is killed."""
    parser = argparse.ArgumentParser(prog="local.kubernetes.authentication", description=__doc__)
    parser.add_argument("--aws", required=True, help="URL of moto")
    parser.add_argument("--region", required=True, help="whose cluster's access entries count")
    parser.add_argument("--files", type=Path, required=True, help="folder of the region")
    options = parser.parse_args()
    paths = RegionPaths(options.files)
    _Handler.caller = staticmethod(sts_caller(options.aws))
    _Handler.entries = staticmethod(recorded_entries(options.aws, options.region))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", limits.TOKEN_WEBHOOK_PORT), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(paths.pki / "token-webhook.crt", paths.pki / "token-webhook.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
