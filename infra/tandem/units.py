"""Units as types: a number in a config or a plan says what it counts."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field


def _plain(unit: str) -> BeforeValidator:
    """Refuses text such as `30s`: the field's type already says the unit, and two units are one too many."""

    def check(value: object) -> object:
        if isinstance(value, str):
            raise ValueError(f"must be a plain number: {unit} | Write the number of {unit}, without unit and quotes")
        return value

    return BeforeValidator(check)


Seconds = Annotated[int, Field(gt=0, description="seconds"), _plain("seconds")]
Milliseconds = Annotated[int, Field(gt=0, description="milliseconds"), _plain("milliseconds")]
Days = Annotated[int, Field(gt=0, description="days"), _plain("days")]
GiB = Annotated[int, Field(gt=0, description="GiB (2^30 bytes)"), _plain("GiB")]
Tokens = Annotated[int, Field(gt=0, description="tokens"), _plain("tokens")]
Port = Annotated[int, Field(ge=1, le=65535, description="TCP port")]

BYTES_PER_GIB = 1 << 30
