"""What GPUs were measured to reach: matrix products and attention. `data/gemm_curves.json`, `data/measured_rates.json`."""

from __future__ import annotations

from functools import cache
from statistics import mean

from tandem.facts.tables import document

WIDTH = 8192
"""The curves' products are [m, WIDTH] x [WIDTH, WIDTH]."""
GPUS = {
    "a100_sxm": "A100-80",
    "h100_sxm": "H100",
    "h200_sxm": "H200",
    "b200_sxm": "B200",
    "b300_sxm": "B300",
    "l40s": "L40S",
    "rtx_pro_6000_server": "RTX PRO 6000 Server",
    "l4": "L4",
    "a10g": "A10G",
}
"""The tables' system names -> accelerators."""
CURVES = {"bf16": "bfloat16", "fp8": "fp8", "int8": "sq", "w4a16": "int4_wo", "fp4": "nvfp4"}
"""Weight format -> the curves' name of it."""


@cache
def curves() -> dict[tuple[str, str, str], dict[int, float]]:
    """(accelerator, engine, curve) -> tokens -> microseconds."""
    return {
        (GPUS[row["gpu"]], row["engine"], row["format"]): {int(m): us for m, us in row["microseconds"].items()}
        for row in document("gemm_curves")["curves"]
        if row["gpu"] in GPUS
    }


@cache
def product_tflops(gpu: str, weights: str) -> float | None:
    """Best rate that any engine's product reached on the GPU in a weight format; None where none was measured."""
    same = "A100-80" if gpu == "A100-40" else gpu
    found = [
        2 * tokens * WIDTH * WIDTH / us / 1e6
        for (name, _, curve), points in curves().items()
        if name == same and curve == CURVES.get(weights)
        for tokens, us in points.items()
    ]
    return max(found, default=None)


def speedup(gpu: str, engine: str, weights: str, tokens: tuple[int, ...]) -> float:
    """How many times faster than BF16 the format's products are, on average over these token counts."""
    base = curves()[gpu, engine, "bfloat16"]
    other = curves()[gpu, engine, CURVES[weights]]
    return mean(base[m] / other[m] for m in tokens)


@cache
def _rates() -> dict[str, dict[str, object]]:
    return {row["gpu"]: row for row in document("measured_rates")["rates"]}


def attention_tflops(gpu: str) -> float | None:
    """Prefill attention at 8K to 16K tokens, BF16."""
    row = _rates().get(gpu)
    value = row["attention_tflops"] if row else None
    return float(value) if isinstance(value, int | float) else None


def kv_read_share(gpu: str, kv: str) -> float | None:
    """Share of the memory's peak rate that decode attention reads KV at (`kv`: bf16 or fp8)."""
    row = _rates().get(gpu)
    shares = row["kv_read_share"] if row else None
    value = shares.get(kv) if isinstance(shares, dict) else None
    return float(value) if isinstance(value, int | float) else None
