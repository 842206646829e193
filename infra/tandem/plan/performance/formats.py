"""Formats of weights and KV: bytes, and the rate that products run at."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from tandem.facts import measured
from tandem.facts.accelerators import Accelerator

SCALES = 0.5
"""Bits that scales add to a 4-bit weight: one 16-bit scale for 32 to 128 weights, zero points, and layers kept at 16 bits."""
UNMEASURED_SHARE = 0.6
"""Share of the dense peak where no product was measured: the measured ones lie between 0.52 (L40S FP8) and 0.94 (A100)."""


@dataclass(frozen=True)
class WeightFormat:
    """How weights are stored and multiplied."""

    name: str
    weight_bytes: float
    """Of one weight, scales included."""
    products: str
    """Format of the tensor cores: bf16, fp8, int8 or fp4."""
    read_share: float
    """Of BF16's rate when reading weights: unpacking 4-bit weights is slower than memory.

    Measured on A100: 2.29 times as fast as BF16 at 3.55 times fewer bytes (facts: planner 4.3).
    """


FORMATS = MappingProxyType(
    {
        row.name: row
        for row in (
            WeightFormat("bf16", 2, "bf16", 1),
            WeightFormat("fp8", 1, "fp8", 1),
            WeightFormat("int8", 1, "int8", 1),
            WeightFormat("w4a16", (4 + SCALES) / 8, "bf16", 0.65),
            WeightFormat("w4a8", (4 + SCALES) / 8, "fp8", 0.65),
            WeightFormat("fp4", (4 + SCALES) / 8, "fp4", 1),
        )
    }
)
KV_BYTES = MappingProxyType({"bf16": 2.0, "fp8": 1.0})


def product_tflops(gpu: Accelerator, weights: WeightFormat) -> float | None:
    """Rate of large products: measured where it was, else a share of the peak. None where the GPU has no such units."""
    products = weights.products
    found = measured.product_tflops(gpu.name, products)
    if found is not None:
        return found
    peak = {"bf16": gpu.bf16_tflops, "fp8": gpu.fp8_tflops, "int8": gpu.int8_tflops}.get(products)
    if peak is None and weights.name == "w4a8":
        peak = gpu.int8_tflops
    return peak * UNMEASURED_SHARE if peak else None
