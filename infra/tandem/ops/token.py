"""The short-lived token by which EKS knows a caller: a presigned STS request, in the form of aws-iam-authenticator."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError
from botocore.signers import RequestSigner

from tandem.errors import TandemError

PREFIX = "k8s-aws-v1."
CLUSTER_HEADER = "x-k8s-aws-id"
PRESIGNED_SECONDS = 60
"""STS accepts the URL for this long; EKS counts 15 minutes from its date."""
LIFETIME = timedelta(minutes=14)
"""One minute below what EKS allows, so that a client renews before it is refused."""


def exec_credential(cluster: str, region: str) -> dict[str, Any]:
    """An `ExecCredential` for kubectl and the Kubernetes provider. Raises `TandemError` without AWS credentials."""
    expires = (datetime.now(UTC) + LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "spec": {},
        "status": {"token": token(cluster, region), "expirationTimestamp": expires},
    }


def token(cluster: str, region: str) -> str:
    """The bearer token itself. A secret for `LIFETIME`."""
    session = boto3.session.Session(region_name=region)
    sts = session.client("sts", region_name=region)
    credentials = session.get_credentials()
    if credentials is None:
        raise TandemError(
            "cluster-token: no AWS credentials - EKS knows callers by them. Run: aws sso login, or set them"
        )
    signer = RequestSigner(sts.meta.service_model.service_id, region, "sts", "v4", credentials, session.events)
    request = {
        "method": "GET",
        "url": f"{sts.meta.endpoint_url.rstrip('/')}/?Action=GetCallerIdentity&Version=2011-06-15",
        "body": {},
        "headers": {CLUSTER_HEADER: cluster},
        "context": {},
    }
    try:
        url = signer.generate_presigned_url(
            request, region_name=region, expires_in=PRESIGNED_SECONDS, operation_name=""
        )
    except BotoCoreError as error:
        raise TandemError(f"cluster-token: {error}") from error
    return PREFIX + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")
