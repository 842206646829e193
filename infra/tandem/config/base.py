"""What every stack file has in common."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from tandem.errors import Fault


class Strict(BaseModel):
    """Frozen; an unknown key is an error; a field's docstring is its description in the reference."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, strict=False)


Name = Annotated[str, StringConstraints(pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=24)]
"""A short lower-case name: it ends up in DNS labels, tags and AWS names."""
AccountId = Annotated[str, StringConstraints(pattern=r"^\d{12}$")]
Region = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
StackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)]


class Colour(StrEnum):
    """The two slots that a triple can occupy in a serving stack."""

    BLUE = "blue"
    GREEN = "green"


class Role(StrEnum):
    """What an engine does: read prompts (bound by compute) or write answers (bound by memory bandwidth)."""

    PREFILL = "prefill"
    DECODE = "decode"


class NodeClass(StrEnum):
    """What a node is good at, by its numbers in `facts`."""

    SYSTEM = "system"
    COMPUTE = "compute"
    BANDWIDTH = "bandwidth"


class Site(Strict):
    """One region's worth of stacks."""

    name: Name
    kind: Literal["home", "prefill"]
    """A `home` site decodes (and usually prefills); a `prefill` site only prefills, for home sites elsewhere."""
    region: Region


class StackBase(Strict):
    """The fields of every stack, whatever its kind."""

    environment: Name
    account_id: AccountId
    """The only AWS account that this stack may touch; the provider refuses any other."""
    site: Site
    uses: dict[str, StackName] = Field(default_factory=dict)
    """The stacks whose outputs this one reads: kind -> stack name. Which kinds are needed is checked per kind."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Added to every AWS resource, beside the ones that Tandem sets itself."""

    def faults(self, at: str) -> Iterator[Fault]:
        """What the fields contradict between one another, once each is right on its own; `at` names the stack."""
        return iter(())
