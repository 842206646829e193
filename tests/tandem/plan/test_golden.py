"""Plans of the checkout's stacks are exactly what was reviewed."""

from __future__ import annotations

import pytest

from tests.tandem.plan import golden


@pytest.mark.parametrize("environment", golden.ENVIRONMENTS)
def test_an_environments_plans_are_the_reviewed_ones(environment: str) -> None:
    kept = (golden.FOLDER / f"{environment}.json").read_text(encoding="utf-8")
    assert golden.text(environment) == kept, (
        "changed on purpose? python -m tests.tandem.plan.golden, and review the diff"
    )


def test_a_plan_does_not_depend_on_when_it_is_made() -> None:
    assert golden.text("local") == golden.text("local")
