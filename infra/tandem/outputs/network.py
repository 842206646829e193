"""What a network stack gives to the stacks of its site."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from tandem.outputs.contract import Contract


class Subnet(BaseModel):
    """One subnet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    use: Literal["public", "private", "control-plane"]
    zone_id: str
    """AZ id, for example `use1-az4`: the same place for every account, unlike an AZ name."""
    cidr: str


class NetworkOutputs(Contract):
    """VPC, subnets and security groups."""

    KIND: ClassVar[str] = "network"
    VERSION: ClassVar[int] = 1

    vpc_id: str
    vpc_cidr: str
    kv_zone_id: str
    """AZ id of the KV domain: prefill and decode nodes stand there."""
    subnets: tuple[Subnet, ...]
    security_groups: dict[str, str]
    """Group (`plan.ports.Group`) -> id."""
    gateway_port: int
    """Port between edge and gateways that the rules open."""

    def subnets_for(self, use: str, zone_id: str | None = None) -> tuple[Subnet, ...]:
        """The subnets of one use, in the order of the zones; with `zone_id` only those there."""
        return tuple(s for s in self.subnets if s.use == use and zone_id in (None, s.zone_id))
