"""Roles, keys and secrets."""

from __future__ import annotations

from tests.local.aws.life_cycles.cycle import CHANGED_TAGS as TAGS
from tests.local.aws.life_cycles.cycle import Drift, Lacks, LifeCycle
from tests.local.aws.life_cycles.documents import policy, trust

ROWS = (
    LifeCycle(
        "role",
        "aws:iam/role:Role",
        lambda ref: {"assumeRolePolicy": trust("eks.amazonaws.com"), "tags": {"use": "test"}},
        lambda ref: {"assumeRolePolicy": trust("ec2.amazonaws.com"), "description": "changed", "tags": TAGS},
        drift=Drift(lambda outside, it: outside.client("iam").update_role(RoleName=it["id"], Description="drifted")),
    ),
    LifeCycle(
        "role-alone",
        "aws:iam/role:Role",
        lambda ref: {"assumeRolePolicy": trust("eks.amazonaws.com"), "name": "named"},
        replaced=lambda ref: {"path": "/other/"},
    ),
    LifeCycle(
        "inline",
        "aws:iam/rolePolicy:RolePolicy",
        lambda ref: {"role": ref("role"), "name": "inline", "policy": policy("s3:GetObject")},
        lambda ref: {"policy": policy("s3:PutObject")},
        lambda ref: {"name": "inline-two"},
        drift=Drift(
            lambda outside, it: outside.client("iam").put_role_policy(
                RoleName=it["role"], PolicyName=it["name"], PolicyDocument=policy("s3:*")
            )
        ),
    ),
    LifeCycle(
        "attachment",
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        lambda ref: {"role": ref("role"), "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"},
        Lacks("both of its inputs say what it is: a change of either is another attachment"),
        lambda ref: {"policyArn": "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"},
        drift=Drift(
            lambda outside, it: outside.client("iam").detach_role_policy(
                RoleName=it["role"], PolicyArn=it["policyArn"]
            ),
            repair="create",
        ),
    ),
    LifeCycle(
        "key",
        "aws:kms/key:Key",
        lambda ref: {"description": "one", "deletionWindowInDays": 7},
        lambda ref: {"description": "two", "enableKeyRotation": True},
        drift=Drift(
            lambda outside, it: outside.client("kms").update_key_description(KeyId=it["id"], Description="drifted")
        ),
    ),
    LifeCycle(
        "key-alone",
        "aws:kms/key:Key",
        lambda ref: {"isEnabled": True},
        lambda ref: {"isEnabled": False},
        lambda ref: {"customerMasterKeySpec": "RSA_2048", "keyUsage": "SIGN_VERIFY"},
    ),
    LifeCycle("key-second", "aws:kms/key:Key", lambda ref: {}),
    LifeCycle(
        "alias",
        "aws:kms/alias:Alias",
        lambda ref: {"name": "alias/one", "targetKeyId": ref("key")},
        lambda ref: {"targetKeyId": ref("key-second")},
        lambda ref: {"name": "alias/two"},
        drift=Drift(
            lambda outside, it: outside.client("kms").delete_alias(AliasName=it["name"]),
            repair="create",
        ),
    ),
    LifeCycle(
        "secret",
        "aws:secretsmanager/secret:Secret",
        lambda ref: {"name": "one", "description": "one", "recoveryWindowInDays": 0},
        lambda ref: {"description": "two", "tags": TAGS},
        lambda ref: {"name": "two"},
        drift=Drift(
            lambda outside, it: outside.client("secretsmanager").update_secret(SecretId=it["id"], Description="drifted")
        ),
    ),
)
