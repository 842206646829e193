"""Runs one action a stack, each as soon as the stacks that it waits for are done, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from typing import TypeVar

from tandem.errors import TandemError

T = TypeVar("T")


class Incomplete(TandemError):
    """Some stacks failed; every one that could go on without them did."""

    exit_code = 4


def run(waits_for: Mapping[str, Set[str]], action: Callable[[str], T], *, at_once: int = 4) -> dict[str, T]:
    """Results by stack. A failure stops only what waits for it; all failures are raised together as `Incomplete`."""
    order = TopologicalSorter(waits_for)
    order.prepare()
    results: dict[str, T] = {}
    failures: dict[str, TandemError] = {}
    running: dict[Future[T], str] = {}
    with ThreadPoolExecutor(at_once) as pool:
        while order.is_active():
            for stack in order.get_ready():
                running[pool.submit(action, stack)] = stack
            if not running:
                break
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                stack = running.pop(future)
                try:
                    results[stack] = future.result()
                except TandemError as error:
                    failures[stack] = error
                else:
                    order.done(stack)
    if failures:
        skipped = sorted(set(waits_for) - set(results) - set(failures))
        lines = [str(error) for error in failures.values()]
        if skipped:
            lines.append(f"not tried, because they wait for these: {', '.join(skipped)}")
        raise Incomplete("\n".join(lines))
    return results
