"""What an instance needs for a prompt: seconds and KV bytes, as polynomials of its length."""

from __future__ import annotations

from dataclasses import dataclass

from tandem.facts.tables import document
from tandem.plan.vectors import Array

MIB = 1 << 20


@dataclass(frozen=True)
class PrefillProfile:
    """T(l) = square l^2 + slope l + base, in seconds."""

    square: float
    slope: float
    base: float

    def seconds(self, tokens: Array) -> Array:
        """Prefill of prompts of these lengths, one at a time, alone on the instance."""
        result: Array = self.square * tokens * tokens + self.slope * tokens + self.base
        return result


@dataclass(frozen=True)
class KvProfile:
    """S(l) = per token x l + fixed, in bytes."""

    per_token: float
    fixed: float = 0.0

    def bytes(self, tokens: Array) -> Array:
        """KV that a prompt hands over."""
        result: Array = self.per_token * tokens + self.fixed
        return result


def paper_profiles() -> tuple[PrefillProfile, PrefillProfile, KvProfile, float]:
    """H200, H20, KV, and decode requests a second and instance, of the Prefill-as-a-Service paper's case study.

    H200 and KV follow from its table 5. H20 and decode are not printed: they are fitted to its table 6 (see the table's note).
    """
    table = document("prfaas")
    hopper, far = table["table5"]["inferred"]["T_H200_quadratic_s"], table["inferred"]["T_H20_quadratic_s"]
    kv = table["table5"]["inferred"]
    return (
        PrefillProfile(hopper["c2"], hopper["c1"], hopper["c0"]),
        PrefillProfile(far["c2"], far["c1"], far["c0"]),
        KvProfile(kv["bytes_per_token"], kv["fixed_MiB"] * MIB),
        table["inferred"]["decode"]["Theta_per_instance"],
    )
