"""Stacks run as soon as what they wait for is done, and a failure stops only what waits for it."""

from __future__ import annotations

import threading

import pytest
from tandem.errors import EngineFailed
from tandem.ops import schedule

SITE = {
    "registry": set(),
    "network": set(),
    "cluster": {"network"},
    "edge": {"network"},
    "serving": {"cluster", "edge"},
}


def test_a_stack_runs_only_after_all_that_it_waits_for() -> None:
    done: list[str] = []
    results = schedule.run(SITE, lambda stack: done.append(stack) or len(done))
    assert set(results) == set(SITE)
    for stack, waits in SITE.items():
        assert all(done.index(needed) < done.index(stack) for needed in waits), f"{stack} ran too early: {done}"


def test_stacks_that_do_not_wait_for_each_other_run_at_the_same_time() -> None:
    meet = threading.Barrier(2, timeout=10)
    schedule.run({"cluster": set(), "edge": set()}, lambda _: meet.wait())
    assert not meet.broken, "both actions must have been under way at once"


def test_a_failure_stops_what_waits_for_it_and_nothing_else() -> None:
    def act(stack: str) -> str:
        if stack == "cluster":
            raise EngineFailed("cluster: no")
        return stack

    ran: list[str] = []
    with pytest.raises(schedule.Incomplete) as failure:
        schedule.run(SITE, lambda stack: ran.append(stack) or act(stack))
    assert "serving" not in ran, "serving waits for cluster, which failed"
    assert {"registry", "network", "edge"} <= set(ran)
    assert "cluster: no" in str(failure.value)
    assert "serving" in str(failure.value), "the message names what was not tried"


def test_a_bug_in_an_action_is_not_turned_into_a_message() -> None:
    with pytest.raises(ZeroDivisionError):
        schedule.run({"registry": set()}, lambda _: 1 / 0)
