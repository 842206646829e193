"""Whether every built name fits its service's limit. Needs no account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Final

from tandem.config.stack import Stack
from tandem.errors import PlanError
from tandem.ops.preflight.answers import Answer, Check, fails, ok
from tandem.plan import names

BUILT: Final[Mapping[str, tuple[Callable[[Stack], str], ...]]] = {
    "registry": (names.weights_bucket,),
    "network": (partial(names.logs_bucket, what="flow-logs"),),
    "cluster": (names.cluster, partial(names.role, what="cluster"), partial(names.role, what="engine")),
    "edge": (partial(names.logs_bucket, what="access-logs"),),
}
"""Kind of stack -> what builds its names."""


def checks(stacks: Mapping[str, Stack]) -> Iterator[Check]:
    """One a stack that builds names."""
    for name, stack in stacks.items():
        if stack.kind in BUILT:
            yield Check(f"{name}: name lengths", lambda _, stack=stack: judge_names(stack))  # type: ignore[misc]


def judge_names(stack: Stack) -> Answer:
    """All names of one stack."""
    built: list[str] = []
    too_long: list[str] = []
    for build in BUILT[stack.kind]:
        try:
            built.append(build(stack))
        except PlanError as error:
            too_long += (str(fault) for fault in error.faults)
    if too_long:
        return fails("; ".join(too_long), "Shorten environment or site.name")
    return ok(f"{', '.join(built)}")
