"""The `registry` stack as a person writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, PositiveFloat

from tandem.config.base import Name, StackBase, Strict
from tandem.errors import Fault
from tandem.units import Days


class Budget(Strict):
    """Mails when the month's bill is going to pass a limit. It stops nothing, and AWS's figures are hours late."""

    usd_per_month: PositiveFloat
    emails: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$")], ...], Field(min_length=1, max_length=10)
    ]
    """Who is told, at 80 % forecast and at 100 % spent."""


class RegistryStack(StackBase):
    """What outlives every cluster: checkpoints, images, keys."""

    kind: Literal["registry"]
    images: Annotated[tuple[Name, ...], Field(min_length=1)] = ("engine-sim", "gateway", "sglang")
    """Images that get a repository."""
    require_tls: bool = True
    """The bucket refuses what does not come over TLS. False only where the endpoint is this machine."""
    old_versions: Days = 30
    """Days that a replaced or deleted checkpoint file can still be brought back."""
    disposable: bool = False
    """True: `down` deletes checkpoints, images and keys at once. False: it is refused while there are any."""
    budget: Budget | None = None
    """None: nobody is told what the environment costs."""

    def faults(self, at: str) -> Iterator[Fault]:
        """What the fields contradict between one another; `at` names the stack in messages."""
        for index, image in enumerate(self.images):
            if image in self.images[:index]:
                yield Fault(f"{at}.images[{index}]", image, "stands in the list twice", "Remove one")
