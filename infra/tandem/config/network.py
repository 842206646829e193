"""The `network` stack as a person writes it."""

from __future__ import annotations

from typing import Literal

from tandem.config.base import StackBase


class NetworkStack(StackBase):
    """TODO of the part that owns this kind."""

    kind: Literal["network"]
