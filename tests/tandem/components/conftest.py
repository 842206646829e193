"""Each kind's program of the dev and local environments, run once against the engine's stand-in."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest
from tandem.graph.computed import ANSWERS

from tests.tandem.engine_mocks import Built, run_program
from tests.tandem.stacks import load

BuildStack = Callable[[str], Built]


@pytest.fixture(scope="session")
def build() -> BuildStack:
    """Runs a stack's program after those of the stacks that it reads, once a session, and gives its result."""
    return _builder()


@pytest.fixture
def build_again() -> BuildStack:
    """As `build`, but for this test alone: for one that changes what the program finds."""
    return _builder()


def _builder() -> BuildStack:
    done: dict[str, Built] = {}

    def run(name: str) -> Built:
        if name not in done:
            stack = load(name)
            reads = {used: run(used).exported for used in stack.uses.values()}
            program = importlib.import_module(f"tandem.programs.{stack.kind}")
            with pytest.MonkeyPatch.context() as patch:
                done[name] = run_program(patch, name, lambda: program.build(stack), reads=reads, answers=ANSWERS)
        return done[name]

    return run
