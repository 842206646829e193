"""Whether the site's buckets are the account's own, or their names still free in the whole world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tandem.config.edge import EdgeStack
from tandem.config.network import NetworkStack
from tandem.config.registry import RegistryStack
from tandem.config.stack import Stack
from tandem.ops.preflight.account import Account
from tandem.ops.preflight.answers import Answer, Check, judged, ok, unchecked
from tandem.plan.edge import plan_edge
from tandem.plan.network import plan_network
from tandem.plan.registry import plan_registry


def checks(stacks: Mapping[str, Stack]) -> Iterator[Check]:
    """One a bucket."""
    for name, stack in stacks.items():
        for bucket in _buckets(name, stack):
            region, owner = stack.site.region, stack.account_id

            def ask(account: Account, bucket: str = bucket, region: str = region, owner: str = owner) -> Answer:
                simulated = account.simulated_at is not None
                return judged(
                    account.bucket_exists(region, bucket, owner), lambda found: judge_bucket(found, simulated)
                )

            yield Check(f"{name}: bucket {bucket}", ask)


def judge_bucket(exists: bool, simulated: bool) -> Answer:
    """Only AWS itself knows the names of all accounts."""
    if exists:
        return ok("reached, in the account")
    if simulated:
        return unchecked("not there yet, and a simulated AWS does not know whether the name is free in the world")
    return ok("not there yet, and the name is free")


def _buckets(name: str, stack: Stack) -> Iterator[str]:
    match stack:
        case RegistryStack():
            yield plan_registry(stack).weights_bucket
        case NetworkStack():
            if flow_logs := plan_network(stack, name).flow_logs:
                yield flow_logs.bucket
        case EdgeStack():
            if access_logs := plan_edge(stack, gateway_port=0).access_logs:
                yield access_logs.bucket
        case _:
            return
