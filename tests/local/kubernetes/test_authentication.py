"""The token webhook knows EKS's tokens, and nothing else."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest
from local.kubernetes.authentication import ASSOCIATION, ENTRY, Claim, Refused, decode, read_entries, review
from tandem.ops import token

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
ACCOUNT = "123456789012"


def made(**changes: str) -> str:
    query = {
        "Action": "GetCallerIdentity",
        "X-Amz-Credential": "AKIDEXAMPLE/20261201/eu-west-1/sts/aws4_request",
        "X-Amz-Date": "20261201T115500Z",
        "X-Amz-SignedHeaders": "host;x-k8s-aws-id",
        **changes,
    }
    url = "https://sts.eu-west-1.amazonaws.com/?" + "&".join(f"{key}={value}" for key, value in query.items())
    return "k8s-aws-v1." + base64.urlsafe_b64encode(url.encode()).decode().rstrip("=")


def test_a_good_token_names_its_key_and_region() -> None:
    assert decode(made(), NOW) == Claim("AKIDEXAMPLE", "eu-west-1")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("eyJhbGciOi", "does not begin"),
        ("k8s-aws-v1.AAAA", "no presigned request"),
        (made(Action="ListRoles"), "not GetCallerIdentity"),
        (made(**{"X-Amz-SignedHeaders": "host"}), "for no cluster"),
        (made(**{"X-Amz-Date": "20261201T113000Z"}), "time is over"),
        (made(**{"X-Amz-Date": "20261201T130000Z"}), "time is over"),
        (made(**{"X-Amz-Credential": "AKID"}), "not whole"),
    ],
)
def test_any_other_token_is_refused_with_the_reason(given: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        decode(given, NOW)


ENTRIES = {f"arn:aws:iam::{ACCOUNT}:role/deployer": ("system:masters",), f"arn:aws:iam::{ACCOUNT}:user/reader": ()}


@pytest.mark.parametrize(
    ("arn", "groups"),
    [
        (f"arn:aws:sts::{ACCOUNT}:assumed-role/deployer/somebody", ["system:masters"]),
        (f"arn:aws:iam::{ACCOUNT}:user/reader", []),
        (f"arn:aws:sts::{ACCOUNT}:user/reader", []),
        (f"arn:aws:sts::{ACCOUNT}:assumed-role/another/somebody", None),
        ("arn:aws:sts::999999999999:assumed-role/deployer/somebody", None),
    ],
)
def test_a_caller_has_what_its_access_entry_gives_and_without_one_nothing(arn: str, groups: list[str] | None) -> None:
    status = review(made(), NOW, lambda _: arn, lambda: ENTRIES)
    assert status["authenticated"] is (groups is not None)
    if groups is None:
        assert "has no access entry" in status["error"]
    else:
        assert status["user"]["groups"] == groups


def test_an_entry_administers_only_with_the_administrators_policy() -> None:
    def record(kind: str, name: str, region: str = "us-east-1") -> dict[str, str]:
        return {"region": region, "type": kind, "id": name}

    who, other = (f"arn:aws:iam::{ACCOUNT}:role/{name}" for name in ("deployer", "reader"))
    policy = "arn:aws:eks::aws:cluster-access-policy"
    records = [
        record(ENTRY, f"home:{who}"),
        record(ASSOCIATION, f"home#{who}#{policy}/AmazonEKSClusterAdminPolicy"),
        record(ENTRY, f"home:{other}"),
        record(ASSOCIATION, f"home#{other}#{policy}/AmazonEKSViewPolicy"),
        record(ENTRY, f"away:arn:aws:iam::{ACCOUNT}:role/elsewhere", "eu-west-1"),
    ]
    assert read_entries(records, "us-east-1") == {who: ("system:masters",), other: ()}


def test_the_command_that_makes_tokens_and_the_webhook_that_reads_them_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
    claim = decode(token.token("local-home", "us-east-1"), datetime.now(UTC) + timedelta(seconds=1))
    assert claim == Claim("AKIDEXAMPLE", "us-east-1")
