"""The page of the planner's errors is the one that its code makes."""

from __future__ import annotations

from tests.tandem.plan.accuracy import PAGE, text


def test_the_page_of_errors_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == text(), "run: python -m tests.tandem.plan.accuracy"
