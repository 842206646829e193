"""Units as types: a number in a config or a plan says what it counts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Seconds = Annotated[int, Field(gt=0, description="seconds")]
Milliseconds = Annotated[int, Field(gt=0, description="milliseconds")]
Days = Annotated[int, Field(gt=0, description="days")]
GiB = Annotated[int, Field(gt=0, description="GiB (2^30 bytes)")]
Tokens = Annotated[int, Field(gt=0, description="tokens")]
Port = Annotated[int, Field(ge=1, le=65535, description="TCP port")]
UsdPerMonth = Annotated[float, Field(ge=0, description="US dollars per month")]

BYTES_PER_GIB = 1 << 30
