"""How many bytes of KV one token of a model has.

ordinary attention:  layers x kv heads x head dim x 2 (K and V) x bytes of the KV dtype
latent attention:    layers x (kv_lora_rank + qk_rope_head_dim) x bytes of the KV dtype
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

DTYPE_BYTES = {
    "fp8_e5m2": 1.0,
    "fp8_e4m3": 1.0,
    "mxfp8": 1.0 + 1 / 32,
    "nvfp4": 0.5 + 1 / 16,
    "fp4_mx_block16": 0.5 + 1 / 16,
    "bf16": 2.0,
    "bfloat16": 2.0,
    "float16": 2.0,
    "half": 2.0,
    "float": 4.0,
    "float32": 4.0,
}


class UnknownShape(Exception):
    """The model's KV shape cannot be told from what was given. The message is for a person."""


@dataclass(frozen=True)
class ModelShape:
    """What decides the size of a model's KV."""

    layers: int
    kv_heads: int
    head_dim: int
    latent: bool
    """Multi-head latent attention: `head_dim` is the latent's width, and there is one `kv head` without a separate V."""
    context_length: int
    architecture: str
    source: str
    """Where the numbers come from; starts with `assumed` if nothing names the model."""

    def bytes_per_token(self, kv_cache_dtype: str, dtype: str) -> int:
        """Bytes of one token's KV, all layers, all tensor-parallel ranks together."""
        name = dtype if kv_cache_dtype == "auto" else kv_cache_dtype
        width = DTYPE_BYTES.get(
            name, 2.0
        )  # `auto` twice: the checkpoint's own dtype, 16 bits for every model in the table
        factor = 1 if self.latent else 2
        return int(self.layers * self.kv_heads * self.head_dim * factor * width)


def _from_config(config: dict[str, Any], source: str) -> ModelShape:
    config = config.get("text_config", config)
    layers = int(config["num_hidden_layers"])
    architecture = (config.get("architectures") or ["unknown"])[0]
    context = int(config.get("max_position_embeddings", 32768))
    if config.get("kv_lora_rank"):
        width = int(config["kv_lora_rank"]) + int(config.get("qk_rope_head_dim", 0))
        return ModelShape(layers, 1, width, True, context, architecture, source)
    heads = int(config["num_attention_heads"])
    head_dim = int(config.get("head_dim") or config["hidden_size"] // heads)
    kv_heads = int(config.get("num_key_value_heads") or heads)
    return ModelShape(layers, kv_heads, head_dim, False, context, architecture, source)


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def find(model_path: str, served_name: str, override: str = "") -> ModelShape:
    """The shape of a model: an override, else its config.json, else the built-in table by name, else an assumed small one.

    Raises `UnknownShape` if the override or the config.json cannot be used.
    """
    if override:
        try:
            layers, kv_heads, head_dim = (int(part) for part in override.split(","))
        except ValueError:
            raise UnknownShape(
                f"TANDEM_SIM_SHAPE: {override} - must be layers,kv_heads,head_dim. Write 32,8,128."
            ) from None
        return ModelShape(layers, kv_heads, head_dim, False, 32768, "unknown", "TANDEM_SIM_SHAPE")
    file = Path(model_path) / "config.json"
    if file.is_file():
        try:
            return _from_config(json.loads(file.read_text()), str(file))
        except (KeyError, ValueError, TypeError) as error:
            raise UnknownShape(
                f"{file}: {error!r} - a model's config.json must name layers and heads. Fix the file."
            ) from error
    table = json.loads(resources.files("engine_sim").joinpath("data/shapes.json").read_text())
    wanted = [_plain(served_name), _plain(model_path.rstrip("/").rsplit("/", 1)[-1])]
    for name in sorted(table["models"], key=len, reverse=True):
        if any(_plain(name) in candidate for candidate in wanted):
            return _from_config(table["models"][name], f"built-in table of {table['date']}: {name}")
    assumed = _from_config(table["models"][table["assumed"]], "")
    return replace(assumed, source=f"assumed: shape of {table['assumed']}, since nothing names {served_name}")
