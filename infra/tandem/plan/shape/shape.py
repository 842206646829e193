"""A model as its layers: parameters, FLOPs, KV bytes.

    FLOPs a token = 2 x active parameters + attention            (Kaplan et al., arXiv 2001.08361, section 2.1)
    KV of n tokens = n x sum over layers of KV values x bytes + fixed state
    experts touched by b tokens = E x (1 - (1 - k/E)^b)           (each token draws k of E, evenly)

The difficulty is the difference between parameters that are stored, that one token uses, and that a step's batch reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tandem.plan.shape.attention import Attention, Grouped, Latent
from tandem.plan.vectors import Array

GATED_MATRICES = 3
"""Gate, up and down projections of a gated feed-forward layer."""


@dataclass(frozen=True)
class Experts:
    """The experts of one layer."""

    routed: int
    shared: int
    per_token: int
    width: int

    def touched(self, tokens: Array) -> Array:
        """Routed experts that a batch of tokens reads, on average."""
        untouched: Array = (1 - self.per_token / self.routed) ** tokens
        return self.routed * (1 - untouched)


@dataclass(frozen=True)
class LayerGroup:
    """Equal layers."""

    count: int
    attention: Attention
    feed_forward: int | Experts
    """Width where it is dense."""


@dataclass(frozen=True)
class Shape:
    """A model's shape."""

    name: str
    hidden: int
    vocabulary: int
    groups: tuple[LayerGroup, ...]
    context_limit: int
    extra_state_bytes: float = 0.0
    """Fixed state that is known as a number only."""

    @property
    def layers(self) -> int:
        """All layers."""
        return sum(group.count for group in self.groups)

    @property
    def expert_layers(self) -> int:
        """Layers with experts."""
        return sum(group.count for group in self.groups if isinstance(group.feed_forward, Experts))

    @property
    def architecture(self) -> str:
        """`dense` or `moe`."""
        return "moe" if self.expert_layers else "dense"

    @property
    def parameters(self) -> float:
        """Stored weights, embeddings included."""
        return self._weights(lambda experts: experts.routed) + self.hidden * self.vocabulary

    @property
    def active_parameters(self) -> float:
        """Weights that one token's forward pass multiplies with; the output layer included, the embedding table not."""
        return self._weights(lambda experts: experts.per_token)

    def read_parameters(self, tokens: Array) -> Array:
        """Weights that a step over `tokens` tokens reads."""
        fixed = self._weights(lambda experts: 0)
        read = np.full_like(tokens, fixed)
        for group in self.groups:
            if isinstance(group.feed_forward, Experts):
                each = GATED_MATRICES * self.hidden * group.feed_forward.width * group.count
                read = read + each * group.feed_forward.touched(tokens)
        return read

    def _weights(self, routed: Callable[[Experts], float]) -> float:
        total = float(self.hidden * self.vocabulary)
        for group in self.groups:
            layer: float = group.attention.parameters(self.hidden)
            forward = group.feed_forward
            width = forward if isinstance(forward, int) else forward.width * (routed(forward) + forward.shared)
            layer += GATED_MATRICES * self.hidden * width
            if isinstance(forward, Experts):
                layer += self.hidden * forward.routed
            total += group.count * layer
        return total

    def kv_bytes_per_token(self, value_bytes: float = 2) -> float:
        """Bytes of KV that one token leaves in all layers."""
        return sum(group.count * group.attention.kv_values for group in self.groups) * value_bytes

    def state_bytes(self, value_bytes: float = 2) -> float:
        """Bytes of a request that do not grow with its context."""
        return self.extra_state_bytes + sum(
            group.count * group.attention.state_bytes(value_bytes) for group in self.groups
        )

    def kv_shards(self, gpus: int, *, by_request: bool = False) -> int:
        """Parts that tensor parallelism cuts a request's KV into; the rest of `gpus` hold copies.

        A latent vector has no heads to cut. `by_request`: attention is data parallel, so each GPU holds other requests.
        """
        if by_request:
            return gpus
        heads = [g.attention.kv_heads for g in self.groups if isinstance(g.attention, Grouped)]
        return 1 if any(isinstance(g.attention, Latent) for g in self.groups) else min([gpus, *heads])

    def kv_bytes(self, tokens: float, value_bytes: float = 2) -> float:
        """KV and state of a request of `tokens` tokens, over all GPUs of an engine."""
        return self.state_bytes(value_bytes) + self.kv_bytes_per_token(value_bytes) * tokens

    def prefill_flops(self, tokens: Array) -> tuple[Array, Array]:
        """FLOPs of a prompt: in matrix products, in attention. The output layer runs for the last token only."""
        products = 2 * (self.active_parameters - self.hidden * self.vocabulary) * tokens
        attention = np.zeros_like(tokens)
        for group in self.groups:
            attention = attention + group.count * group.attention.prefill_flops(tokens)
        return products, attention
