"""The `serving` stack as a person writes it."""

from __future__ import annotations

from typing import Literal

from tandem.config.base import StackBase


class ServingStack(StackBase):
    """TODO of the part that owns this kind."""

    kind: Literal["serving"]
