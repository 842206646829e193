"""What a serving stack gives to the commands that operate it."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from tandem.config.base import Colour
from tandem.outputs.contract import Contract


class Triple(BaseModel):
    """One colour as it was applied."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pair_revision: str
    served_name: str
    simulated: bool
    """True: the engines compute no model."""
    schemes: dict[str, str]
    """Role -> quantization scheme."""
    deployments: dict[str, str]
    """`gateway`, `prefill`, `decode` -> name of the Deployment."""
    gateway_service: str
    gateway_port: int
    target_group_arn: str
    kv_bytes_per_token: int
    transfer_milliseconds: int
    """What the KV of a full context takes on the wire, by the plan."""


class ServingOutputs(Contract):
    """The triples of a site."""

    KIND: ClassVar[str] = "serving"
    VERSION: ClassVar[int] = 1

    namespace: str
    live: Colour
    """The colour that serves at the start; the edge's weights say which one does."""
    triples: dict[Colour, Triple]
