"""Reads a shape from a model's config.json. Hugging Face's names of keys; a part that cannot be read is refused, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tandem.errors import Fault, PlanError
from tandem.facts import models
from tandem.plan.shape.attention import Attention, Grouped, Latent, Linear
from tandem.plan.shape.shape import Experts, LayerGroup, Shape

NEEDED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size")


def shape_of(name: str) -> Shape:
    """The shape of a model that Tandem knows by name. Raises `PlanError` for an unknown one."""
    config = models.find(name)
    if config is None:
        known = ", ".join(models.configs())
        fix = f"Give the path of its config.json, or one of: {known}"
        raise PlanError([Fault("model", name, "Tandem has no config of that name, and a shape is not guessed", fix)])
    return read_shape(config, name)


def read_shape(config: Mapping[str, Any], name: str) -> Shape:
    """The shape that a config.json describes. Raises `PlanError` naming every key that is missing or not a positive number."""
    config = config.get("text_config") or config
    feed_forward_key = next((key for key in ("moe_intermediate_size", "intermediate_size") if key in config), None)
    needed = (*NEEDED, feed_forward_key or "intermediate_size")
    wrong = [key for key in needed if not _positive(config.get(key))]
    wrong += [
        key for key, value in config.items() if key.startswith("num_") and value is not None and not _positive(value)
    ]
    if wrong:
        rule = "the shape follows from it, so it must be a positive whole number"
        raise PlanError(
            [
                Fault(
                    f"{name} config.json: {key}", str(config.get(key, "missing")), rule, "Take the file from the model"
                )
                for key in dict.fromkeys(wrong)
            ]
        )
    layers = int(config["num_hidden_layers"])
    dense_first = int(config.get("first_k_dense_replace", 0))
    experts = _experts(config)
    groups: dict[tuple[Attention, int | Experts], int] = {}
    for index, attention in enumerate(_attentions(config, layers)):
        forward = experts if experts and index >= dense_first else int(config.get("intermediate_size", 0))
        groups[attention, forward] = groups.get((attention, forward), 0) + 1
    return Shape(
        name=name,
        hidden=int(config["hidden_size"]),
        vocabulary=int(config["vocab_size"]),
        groups=tuple(LayerGroup(count, attention, forward) for (attention, forward), count in groups.items()),
        context_limit=int(config.get("max_position_embeddings", 131072)),
    )


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _experts(config: Mapping[str, Any]) -> Experts | None:
    routed = next((config[k] for k in ("n_routed_experts", "num_experts", "num_local_experts") if config.get(k)), None)
    if routed is None:
        return None
    width = int(config.get("moe_intermediate_size") or config["intermediate_size"])
    return Experts(int(routed), int(config.get("n_shared_experts") or 0), int(config["num_experts_per_tok"]), width)


def _attentions(config: Mapping[str, Any], layers: int) -> list[Attention]:
    """Attention of each layer, first to last."""
    heads = int(config["num_attention_heads"])
    if config.get("kv_lora_rank"):
        latent = Latent(
            heads=heads,
            query_rank=int(config.get("q_lora_rank") or 0),
            rank=int(config["kv_lora_rank"]),
            rope_dim=int(config["qk_rope_head_dim"]),
            nope_dim=int(config["qk_nope_head_dim"]),
            value_dim=int(config["v_head_dim"]),
        )
        return [latent] * layers
    key_dim = int(config.get("head_dim") or config["hidden_size"] // heads)
    value_dim = int(config.get("v_head_dim") or key_dim)
    full = Grouped(heads, int(config.get("num_key_value_heads") or heads), key_dim, value_dim)
    kinds = _kinds(config, layers)
    others: dict[str, Attention] = {"full_attention": full}
    if "sliding_attention" in kinds:
        kv_heads = int(config.get("swa_num_key_value_heads") or full.kv_heads)
        others["sliding_attention"] = Grouped(heads, kv_heads, key_dim, value_dim, int(config["sliding_window"]))
    if "linear_attention" in kinds:
        others["linear_attention"] = Linear(
            key_heads=int(config["linear_num_key_heads"]),
            value_heads=int(config["linear_num_value_heads"]),
            key_dim=int(config["linear_key_head_dim"]),
            value_dim=int(config["linear_value_head_dim"]),
            kernel=int(config.get("linear_conv_kernel_dim") or 0),
        )
    return [others[kind] for kind in kinds]


def _kinds(config: Mapping[str, Any], layers: int) -> list[str]:
    if config.get("layer_types"):
        return list(config["layer_types"])
    if config.get("full_attention_interval"):
        every = int(config["full_attention_interval"])
        return ["full_attention" if (index + 1) % every == 0 else "linear_attention" for index in range(layers)]
    if config.get("full_attention_layers") and config.get("sliding_window"):
        full = int(config["full_attention_layers"])
        return ["full_attention"] * full + ["sliding_attention"] * (layers - full)
    return ["full_attention"] * layers
