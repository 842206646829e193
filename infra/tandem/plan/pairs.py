"""What makes two checkpoints a pair: the pair revision, the bytes of its KV, and the scheme of each role.

    pair revision = first 12 hex digits of sha256(canonical JSON of everything that decides KV bytes or answers)
    KV bytes a token = layers x KV values of a layer (see plan.shape.attention) x bytes of a value

The difficulty is what to hash. What only decides speed (replicas, memory fraction, probes) stays out, or every tuning
would need a whole second colour; what changes a single bit of KV or of an answer must be in, or two revisions would share a pool.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tandem.config.base import Role
from tandem.config.pair import Checkpoint, GroupedAttention, ModelShape, Pair
from tandem.facts.schemes import RUNS, Scheme, Support, schemes
from tandem.plan.shape.attention import Grouped, Latent

REVISION_DIGITS: Final = 12
"""48 bits: the two or three revisions that a cluster ever holds at once do not meet by chance; fits every name."""
VALUE_BYTES: Final = {"bfloat16": 2}
FALLBACKS: Final = {
    "w4a8": ("w4a8", "w4a16", "w8a8", "bf16"),
    "w4a4": ("w4a4", "w4a16", "w8a8", "bf16"),
    "w4a16": ("w4a16", "w8a8", "bf16"),
    "w8a8": ("w8a8", "w4a16", "bf16"),
    "bf16": ("bf16", "w8a8"),
}
"""Families from near to far: what keeps the weight's size first, because decode is bound by reading weights."""


@dataclass(frozen=True)
class Refused:
    """A scheme that a role's nodes cannot run."""

    rule: str
    fix: str


def kv_bytes_per_token(model: ModelShape, kv_cache_dtype: str) -> int:
    """Bytes of keys and values that one token leaves in all layers, over all GPUs of an engine."""
    said = model.attention
    attention = (
        Grouped(said.heads, said.kv_heads, said.head_dim, said.head_dim)
        if isinstance(said, GroupedAttention)
        else Latent(said.heads, 0, said.kv_lora_rank, said.rope_head_dim, said.head_dim, said.head_dim)
    )
    return model.layers * attention.kv_values * VALUE_BYTES[kv_cache_dtype]


def resolve_scheme(
    checkpoint: Checkpoint, family: str, model: ModelShape, accelerator: str, capability: int
) -> Scheme | Refused:
    """The concrete scheme of a role's checkpoint on nodes with `accelerator` (compute capability 90 is 9.0).

    A scheme that the checkpoint names is judged; where it names none, the first of `family` that the nodes can run.
    """
    shown = f"{accelerator} (sm{capability})"
    nearest = _nearest(family, model, capability)
    if checkpoint.scheme is None:
        if nearest is not None and nearest.family == family:
            return nearest
        rule = f"no {family} scheme of SGLang 0.5.23 runs a {model.architecture} model on {shown}"
    else:
        scheme = schemes()[checkpoint.scheme]
        if scheme.on(capability) in RUNS:
            return scheme
        rule = f"{shown} cannot run it as named: {scheme.note}"
    if nearest is None:
        return Refused(rule, "Choose another class of node")
    change = "" if nearest.family == family else f" (and quantization: {nearest.family})"
    return Refused(rule, f"Nearest that can: {nearest.name}{change}")


def _nearest(family: str, model: ModelShape, capability: int) -> Scheme | None:
    """The scheme nearest to what the family promises that the accelerator runs; what was seen running goes first."""
    for wanted in FALLBACKS[family]:
        able = [s for s in schemes().values() if s.family == wanted and s.runs(capability, model.architecture)]
        if able:
            return min(able, key=lambda s: s.on(capability) is Support.UNPROVED)
    return None


def revision(pair: Pair, image: str, chosen: Mapping[Role, Scheme], tensor_parallel: Mapping[Role, int]) -> str:
    """The pair revision: 12 hex digits. `image` is the engine's full reference, `chosen` each role's scheme."""
    text = canonical(identity(pair, image, chosen, tensor_parallel))
    return hashlib.sha256(text.encode()).hexdigest()[:REVISION_DIGITS]


def identity(
    pair: Pair, image: str, chosen: Mapping[Role, Scheme], tensor_parallel: Mapping[Role, int]
) -> dict[str, Any]:
    """What the revision hashes, as plain JSON values, so that two revisions can be compared by eye."""
    return {
        "format": 1,
        "engine": {"kind": pair.engine.kind, "image": image},
        "model": pair.model.model_dump(mode="json"),
        "checkpoints": {
            role.value: {
                # Where files have a digest, their place decides nothing.
                "files": checkpoint.digest or checkpoint.uri,
                "scheme": chosen[role].name,
                "tensor_parallel": tensor_parallel[role],
            }
            for role, checkpoint in ((Role.PREFILL, pair.prefill), (Role.DECODE, pair.decode))
        },
        "shared": pair.model_dump(mode="json", exclude={"engine", "model", "prefill", "decode"}),
    }


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces: one text a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
