"""Whether the caller is in the environment's account, and may do what its stacks need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tandem.config.stack import Stack
from tandem.ops.preflight.account import Account, Caller, Decision
from tandem.ops.preflight.answers import Answer, Check, Known, Reading, Unread, fails, judged, ok, unchecked

ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "registry": (
        *("s3:CreateBucket", "s3:PutBucketVersioning", "s3:PutEncryptionConfiguration", "s3:PutBucketPolicy"),
        *("kms:CreateKey", "kms:CreateAlias", "ecr:CreateRepository", "secretsmanager:CreateSecret"),
    ),
    "network": (
        *(
            "ec2:CreateVpc",
            "ec2:CreateSubnet",
            "ec2:CreateRouteTable",
            "ec2:CreateSecurityGroup",
            "ec2:CreateNatGateway",
        ),
        *("ec2:AuthorizeSecurityGroupIngress", "ec2:AuthorizeSecurityGroupEgress", "ec2:CreateVpcEndpoint"),
    ),
    "cluster": (
        *("eks:CreateCluster", "eks:CreateNodegroup", "eks:CreateAddon", "eks:CreateAccessEntry"),
        *("eks:CreatePodIdentityAssociation", "iam:CreateRole", "iam:AttachRolePolicy", "iam:PassRole"),
        *("ec2:CreateLaunchTemplate", "ec2:RunInstances", "ec2:CreatePlacementGroup", "logs:CreateLogGroup"),
    ),
    "edge": (
        *("elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateListener"),
        *("elasticloadbalancing:CreateTargetGroup", "acm:RequestCertificate", "route53:ChangeResourceRecordSets"),
        *("wafv2:CreateWebACL", "wafv2:AssociateWebACL"),
    ),
    "serving": ("eks:DescribeCluster", "secretsmanager:GetSecretValue"),
}
"""Kind of stack -> what its first `up` cannot do without. Not every call that it makes."""


def checks(stacks: Mapping[str, Stack]) -> Iterator[Check]:
    """One for the account, one a kind of stack."""
    for account_id in sorted({stack.account_id for stack in stacks.values()}):
        yield Check(
            f"caller is in account {account_id}",
            lambda account, account_id=account_id: judged(  # type: ignore[misc]
                account.caller, lambda caller: judge_caller(caller, account_id)
            ),
        )
    for kind in dict.fromkeys(stack.kind for stack in stacks.values()):
        if actions := ACTIONS.get(kind, ()):
            yield Check(
                f"caller may make {kind} stacks",
                lambda account, actions=actions: judged(decisions(account, actions), judge_actions),  # type: ignore[misc]
                real_only=True,
            )


def judge_caller(caller: Caller, account_id: str) -> Answer:
    """The provider refuses any other account."""
    if caller.account_id == account_id:
        return ok(f"as {caller.arn}")
    return fails(f"{caller.arn} is in {caller.account_id}", f"Use credentials of {account_id}, or correct account_id")


def judge_actions(found: Mapping[str, Decision]) -> Answer:
    """Denied is denied; what depends on conditions that the simulator was not told is not known."""
    denied = sorted(action for action, found in found.items() if found.decision != "allowed")
    if denied:
        fix = "Allow them to the caller. A policy that names resources is denied here too: then look at those yourself"
        return fails(f"not allowed on every resource: {', '.join(denied)}", fix)
    open_keys = sorted({key for decision in found.values() for key in decision.missing_context})
    if open_keys:
        return unchecked(f"allowed under conditions on {', '.join(open_keys)}, which the simulator was not told")
    return ok(f"all {len(found)} actions that were asked about")


def decisions(account: Account, actions: tuple[str, ...]) -> Reading[Mapping[str, Decision]]:
    """What IAM's simulator says of the caller."""
    caller = account.caller
    if isinstance(caller, Unread):
        return caller
    principal = principal_of(caller.value.arn, account)
    if isinstance(principal, Unread):
        return principal
    found = account.decisions(principal.value, actions)
    if isinstance(found, Known) and (left_out := sorted(set(actions) - set(found.value))):
        return Unread(f"the simulator said nothing of {', '.join(left_out)}")
    return found


def principal_of(arn: str, account: Account) -> Reading[str]:
    """The user or role whose policies count."""
    resource = arn.rpartition(":")[2]
    kind, _, rest = resource.partition("/")
    if kind == "assumed-role":
        return account.role_arn(rest.partition("/")[0])
    if kind == "user":
        return Known(arn)
    return Unread(f"IAM's simulator takes users and roles, and the caller is {arn}")
