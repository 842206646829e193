"""How a checkpoint is quantized, from its own files, in the words of `facts.schemes`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tandem.plan.pairing.files import CheckpointFiles

PLAIN: Final = "bf16"
FP8_KV: Final = "fp8_e4m3"
MODELOPT: Final = {
    "FP8": "w8a8-fp8-modelopt",
    "NVFP4": "w4a4-nvfp4",
    "MXFP8": "w8a8-mxfp8",
    "W4A8_AWQ": "w4a8-fp8-experts",
    "MIXED_PRECISION": "w4a8-fp8-experts",
}
"""ModelOpt's `quant_algo` -> scheme. SGLang reads MIXED_PRECISION without NVFP4 layers as w4afp8 (sglang.md 3)."""
METHODS: Final = {"awq": "w4a16-awq", "gptq": "w4a16-gptq", "w4afp8": "w4a8-fp8-experts", "mxfp8": "w8a8-mxfp8"}
"""`quant_method` -> scheme, where it alone tells."""
INT_W4A8: Final = "w4a8, int-quantized"
DENSE_W4A8: Final = "w4a8, dense"


@dataclass(frozen=True)
class Quantization:
    """What a checkpoint says of its numbers."""

    method: str | None
    """`quant_method`; None for an unquantized checkpoint."""
    scheme: str | None
    """Name in `facts.schemes`; None for one that the table does not know."""
    described: str
    """In words, for messages."""
    group: int | None
    """Columns that share one scale."""
    kv_dtype: str | None
    """KV dtype that `--kv-cache-dtype auto` takes from this checkpoint; None where it leaves the model's own."""
    unusable: str | None = None
    """Why no CUDA engine loads it, where that is so."""


def quantization(files: CheckpointFiles, *, moe: bool) -> Quantization:
    """The checkpoint's quantization. Pure; knows what SGLang 0.5.23 reads (sglang.md 3 and 10)."""
    given = files.config.get("quantization_config")
    config: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    method = str(config.get("quant_method") or "") or None
    inner = (files.modelopt or {}).get("quantization")
    modelopt: Mapping[str, Any] = inner if isinstance(inner, Mapping) else {}
    if modelopt or method == "modelopt":
        return _modelopt({**config, **modelopt})
    if method is None:
        return Quantization(None, PLAIN, "not quantized", None, None)
    if method == "compressed-tensors":
        return _compressed(config, moe=moe)
    if method == "fp8":
        block = config.get("weight_block_size")
        described = f"fp8, blocks of {block}" if block else "fp8, one scale a tensor"
        return Quantization(method, "w8a8-fp8-block", described, int(block[1]) if block else None, None)
    group = config.get("group_size") or config.get("q_group_size")
    size = int(group) if isinstance(group, int) and group > 0 else None
    return Quantization(method, METHODS.get(method), method, size, None)


def _modelopt(config: Mapping[str, Any]) -> Quantization:
    algorithm = str(config.get("quant_algo") or "")
    kv = FP8_KV if str(config.get("kv_cache_quant_algo") or "").upper() == "FP8" else None
    group = config.get("group_size")
    size = int(group) if isinstance(group, int) and group > 0 else None
    return Quantization("modelopt", MODELOPT.get(algorithm.upper()), f"modelopt {algorithm}", size, kv)


def _compressed(config: Mapping[str, Any], *, moe: bool) -> Quantization:
    groups = config.get("config_groups")
    first: Mapping[str, Any] = next(iter(groups.values()), {}) if isinstance(groups, Mapping) else {}
    weights: Mapping[str, Any] = first.get("weights") or {}
    inputs: Mapping[str, Any] = first.get("input_activations") or {}
    form = str(first.get("format") or config.get("format") or "")
    scheme, unusable = _compressed_scheme(weights, inputs, form, moe=moe)
    kv = config.get("kv_cache_scheme")
    kv_dtype = FP8_KV if isinstance(kv, Mapping) and kv.get("num_bits") == 8 and kv.get("type") == "float" else None
    size = weights.get("group_size")
    described = (
        f"compressed-tensors W{weights.get('num_bits')}A{inputs.get('num_bits') or 16} {weights.get('type')} {form}"
    )
    return Quantization(
        "compressed-tensors",
        scheme,
        described,
        size if isinstance(size, int) and size > 0 else None,
        kv_dtype,
        unusable,
    )


def _compressed_scheme(
    weights: Mapping[str, Any], inputs: Mapping[str, Any], form: str, *, moe: bool
) -> tuple[str | None, str | None]:
    bits, kind = weights.get("num_bits"), weights.get("type")
    match bits, kind, inputs.get("num_bits"):
        case 8, "float", 8:
            return ("w8a8-fp8-block" if weights.get("strategy") == "block" else "w8a8-fp8-channel"), None
        case 8, "int", 8:
            return "w8a8-int8-compressed-tensors", None
        case 4, "int", None:
            return "w4a16-compressed-tensors", None
        case 4, "int", 8 if form == "int-quantized":
            return (
                "w4a8-compressed-tensors",
                "SGLang loads 4-bit weights with 8-bit activations only as pack-quantized on CUDA",
            )
        case 4, "int", 8 if not moe:
            return (
                "w4a8-compressed-tensors",
                "no CUDA kernel runs 4-bit weights with 8-bit activations in dense layers from this format",
            )
        case 4, "int", 8:
            return "w4a8-compressed-tensors", None
        case 4, "float", 4 | 16:
            return "w4a4-nvfp4", None
    return None, None
