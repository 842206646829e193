"""Whether the account may run as many vCPUs as the environment can grow to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from tandem.config.cluster import CapacityBlock, ClusterStack
from tandem.config.stack import Stack
from tandem.facts.instances import instances
from tandem.ops.preflight.answers import Answer, Check, fails, judged, ok

CODES: Final = {
    ("on-demand", "P"): "L-417A185B",
    ("on-demand", "G and VT"): "L-DB2E81BA",
    ("spot", "P"): "L-7212CCBC",
    ("spot", "G and VT"): "L-3819A6DF",
    ("on-demand", "standard"): "L-1216C47A",
}
"""Market and family -> EC2's quota of vCPUs, one of each a region."""
MARKETS: Final = {"spot": "spot"}
"""How capacity is bought -> the market whose quota it takes; on-demand where it is not here."""


def checks(stacks: Mapping[str, Stack]) -> Iterator[Check]:
    """One check a quota and region."""
    for region, needs in _needs(stacks).items():
        for (market, family), code in CODES.items():
            needed = needs[market, family]

            def judge(allowed: float, needed: int = needed, code: str = code, region: str = region) -> Answer:
                return judge_quota(allowed, needed, code, region)

            name = f"{region}: quota {code} ({market} {family})"
            yield Check(
                name,
                lambda account, region=region, code=code, judge=judge: judged(account.quota(region, code), judge),  # type: ignore[misc]
                real_only=True,
            )


def judge_quota(allowed: float, needed: int, code: str, region: str) -> Answer:
    """`allowed` and `needed` are vCPUs."""
    told = f"{allowed:.0f} vCPUs allowed, {needed} needed at nodes_max; what else the account runs is not counted"
    if allowed >= needed:
        return ok(told)
    fix = f"aws service-quotas request-service-quota-increase --service-code ec2 --quota-code {code}"
    return fails(told, f"{fix} --desired-value {needed} --region {region}, or lower nodes_max")


def _needs(stacks: Mapping[str, Stack]) -> dict[str, Counter[tuple[str, str]]]:
    """vCPUs by region, then market and family."""
    needs: dict[str, Counter[tuple[str, str]]] = {}
    for stack in stacks.values():
        if isinstance(stack, ClusterStack):
            of_region = needs.setdefault(stack.site.region, Counter())
            for group in stack.node_groups.values():
                # A Capacity Block has a quota of its own. A reservation counts as on-demand.
                if not isinstance(group.capacity, CapacityBlock):
                    market = MARKETS.get(group.capacity.kind, "on-demand")
                    vcpus = instances()[group.instance_type].vcpus
                    of_region[market, family(group.instance_type)] += group.nodes_max * vcpus
    return needs


def family(instance_type: str) -> str:
    """EC2's family for quotas: by the first letters of the type."""
    letters = instance_type[: next(i for i, c in enumerate(instance_type) if c.isdigit())]
    return {"p": "P", "g": "G and VT", "gr": "G and VT", "vt": "G and VT"}.get(letters, "standard")
