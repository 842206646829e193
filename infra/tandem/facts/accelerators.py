"""GPUs: memory, bandwidth and peak rates. Source and date stand in `data/accelerators.json`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tandem.facts.tables import document


@dataclass(frozen=True)
class Accelerator:
    """One GPU."""

    name: str
    capability: int
    """CUDA compute capability: 90 is 9.0."""
    memory_gib: float
    bandwidth_gb_per_second: float | None
    """Of its memory, in 10^9 bytes a second; None where no source names it."""
    bf16_tflops: float | None
    """Dense, tensor cores."""
    fp8_tflops: float | None
    """Dense; None where the GPU has no FP8 tensor cores."""
    int8_tflops: float | None
    nvlink_gb_per_second: float
    """Both directions together; 0 where GPUs of one node meet over PCIe only."""
    confidence: str
    """Where the numbers are from, and which of them to doubt."""


@cache
def accelerators() -> MappingProxyType[str, Accelerator]:
    """All GPUs by name."""
    rows = (Accelerator(**row) for row in document("accelerators")["accelerators"])
    return MappingProxyType({row.name: row for row in rows})
