"""What two checkpoints' files say, as plain values: `ops.checkpoint_files` reads them, everything here only judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Tensor:
    """One tensor of a safetensors header."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class CheckpointFiles:
    """The metadata of one checkpoint."""

    where: str
    """Its folder, for messages."""
    config: Mapping[str, Any]
    """`config.json`."""
    modelopt: Mapping[str, Any] | None = None
    """`hf_quant_config.json`, where there is one."""
    generation: Mapping[str, Any] | None = None
    """`generation_config.json`, where there is one."""
    tokenizer: Mapping[str, str] = field(default_factory=dict)
    """Tokenizer file -> digest of what it means, its formatting left out."""
    chat_template: str | None = None
    """The template's text, wherever it stands; None where there is none."""
    tensors: Mapping[str, Tensor] | None = None
    """By name, from the safetensors headers; None where there is no safetensors file."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """Small tensor -> sha256 of its bytes, where the bytes are there."""
    scales: Mapping[str, float] = field(default_factory=dict)
    """KV scale -> its value, where the bytes are there."""
