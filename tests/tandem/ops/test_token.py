"""The cluster token has the form that EKS checks."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from tandem.errors import TandemError
from tandem.ops import token


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)


def _url(value: str) -> str:
    encoded = value.removeprefix(token.PREFIX)
    return base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()


@pytest.mark.usefixtures("credentials")
def test_the_token_is_a_presigned_caller_identity_request_bound_to_the_cluster() -> None:
    value = token.token("local-home", "eu-west-1")
    url = urlsplit(_url(value))
    query = parse_qs(url.query)
    assert value.startswith("k8s-aws-v1.")
    assert "=" not in value, "EKS takes the token without padding"
    assert url.hostname == "sts.eu-west-1.amazonaws.com", "a regional endpoint, as EKS asks for"
    assert query["Action"] == ["GetCallerIdentity"]
    assert "x-k8s-aws-id" in query["X-Amz-SignedHeaders"][0], "the cluster's name must be part of what is signed"
    assert query["X-Amz-Credential"][0].startswith("AKIDEXAMPLE/")


@pytest.mark.usefixtures("credentials")
def test_tokens_of_two_clusters_differ_in_their_signature() -> None:
    signatures = {
        parse_qs(urlsplit(_url(token.token(name, "us-east-1"))).query)["X-Amz-Signature"][0] for name in ("a", "b")
    }
    assert len(signatures) == 2


@pytest.mark.usefixtures("credentials")
def test_the_credential_expires_before_eks_refuses_it() -> None:
    status = token.exec_credential("local-home", "us-east-1")["status"]
    expires = datetime.strptime(status["expirationTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    assert 0 < (expires - datetime.now(UTC)).total_seconds() < 15 * 60


def test_without_credentials_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("AWS_CONFIG_FILE", f"{tmp_path}/none")
    with pytest.raises(TandemError, match="no AWS credentials"):
        token.token("local-home", "us-east-1")
