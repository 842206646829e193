"""The kinds of attention, by what each leaves in memory and computes.

grouped:  KV a token = KV heads x (key dim + value dim)          window w: at most w tokens of it
latent:   KV a token = compressed rank + rotary dim               (DeepSeek-V2, arXiv 2405.04434, section 2.1)
linear:   no KV; a fixed state = value heads x key dim x value dim, kept in fp32, and the inputs of its convolution
prefill of n tokens = heads x (key dim + value dim) x n^2 FLOPs, half of the full square by the causal mask
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tandem.plan.vectors import Array

STATE_BYTES = 4
"""Recurrent states stay in fp32: they are summed over the whole context."""
CONVOLUTION_BYTES = 2


@dataclass(frozen=True)
class Grouped:
    """Multi-head, grouped-query or multi-query attention, over all tokens or a window."""

    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    window: int | None = None
    """Tokens that a token sees; None: all before it."""

    def parameters(self, hidden: int) -> int:
        """Weights of one layer's projections."""
        queries = hidden * self.heads * self.key_dim
        return queries + hidden * self.kv_heads * (self.key_dim + self.value_dim) + self.heads * self.value_dim * hidden

    @property
    def kv_values(self) -> int:
        """Values that one token adds to a growing cache; a window does not grow."""
        return 0 if self.window else self.kv_heads * (self.key_dim + self.value_dim)

    def state_bytes(self, value_bytes: float) -> float:
        """Bytes that do not grow with the context: a full window."""
        return self.window * self.kv_heads * (self.key_dim + self.value_dim) * value_bytes if self.window else 0.0

    def prefill_flops(self, tokens: Array) -> Array:
        """FLOPs of scores and values of one layer."""
        seen = np.minimum(tokens, 2 * self.window) if self.window else tokens
        return self.heads * (self.key_dim + self.value_dim) * seen * tokens


@dataclass(frozen=True)
class Latent:
    """Multi-head latent attention: one compressed vector a token and layer."""

    heads: int
    query_rank: int
    rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int

    def parameters(self, hidden: int) -> int:
        """Weights of one layer's projections."""
        query_width = self.heads * (self.nope_dim + self.rope_dim)
        queries = hidden * self.query_rank + self.query_rank * query_width if self.query_rank else hidden * query_width
        keys = hidden * (self.rank + self.rope_dim) + self.rank * self.heads * (self.nope_dim + self.value_dim)
        return queries + keys + self.heads * self.value_dim * hidden

    @property
    def kv_values(self) -> int:
        """Values that one token adds."""
        return self.rank + self.rope_dim

    def state_bytes(self, value_bytes: float) -> float:
        """None: the cache grows with every token."""
        return 0.0

    def prefill_flops(self, tokens: Array) -> Array:
        """FLOPs of scores and values of one layer, keys and values expanded."""
        return self.heads * (self.nope_dim + self.rope_dim + self.value_dim) * tokens * tokens


@dataclass(frozen=True)
class Linear:
    """Linear attention (gated delta rule and its kin): a state of fixed size."""

    key_heads: int
    value_heads: int
    key_dim: int
    value_dim: int
    kernel: int
    """Width of the short convolution; 0 where there is none."""

    @property
    def _width(self) -> int:
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    def parameters(self, hidden: int) -> int:
        """Weights of one layer's projections, gate and output included."""
        return hidden * (self._width + self.value_heads * self.value_dim) + self.value_heads * self.value_dim * hidden

    @property
    def kv_values(self) -> int:
        """Nothing grows."""
        return 0

    def state_bytes(self, value_bytes: float) -> float:
        """The recurrent state and the convolution's last inputs; the KV format changes neither."""
        recurrent = self.value_heads * self.key_dim * self.value_dim * STATE_BYTES
        return recurrent + self._width * max(self.kernel - 1, 0) * CONVOLUTION_BYTES

    def prefill_flops(self, tokens: Array) -> Array:
        """Update and read of the state for each token."""
        return 4 * self.value_heads * self.key_dim * self.value_dim * tokens


Attention = Grouped | Latent | Linear
