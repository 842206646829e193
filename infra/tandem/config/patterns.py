"""Text of a given shape, with words for people where it has another."""

from __future__ import annotations

import re

from pydantic import AfterValidator


def shaped(pattern: str, rule: str, example: str) -> AfterValidator:
    """Refuses text that does not match as a whole; `rule` says what it must be."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if compiled.fullmatch(value):
            return value
        raise ValueError(f"{rule} | For example {example}")

    return AfterValidator(check)
