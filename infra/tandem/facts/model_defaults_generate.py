"""Writes `data/model_defaults.json`: what a key that a `config.json` leaves out means, by model type, as transformers has it.

Runs in the environment of `images/sglang-cpu` (`make engine`), which holds the transformers of the pinned SGLang release:

    VENV/bin/python infra/tandem/facts/model_defaults_generate.py > infra/tandem/facts/data/model_defaults.json
"""

from __future__ import annotations

import datetime
import json
import sys
from typing import Any

KEYS = (
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_size",
    "intermediate_size",
    "moe_intermediate_size",
    "num_experts_per_tok",
    "num_experts",
    "num_local_experts",
    "n_routed_experts",
    "n_shared_experts",
    "kv_lora_rank",
    "q_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    "vocab_size",
    "tie_word_embeddings",
    "attention_bias",
    "rms_norm_eps",
    "hidden_act",
    "sliding_window",
    "use_sliding_window",
    "max_window_layers",
    "partial_rotary_factor",
    "max_position_embeddings",
    "num_nextn_predict_layers",
    "linear_conv_kernel_dim",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "linear_num_key_heads",
    "linear_num_value_heads",
)


def main() -> None:
    import transformers
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    models = {}
    for name in sorted(CONFIG_MAPPING.keys()):
        try:
            found = defaults(CONFIG_MAPPING[name])
        except Exception as error:  # noqa: BLE001 - a class that cannot be made alone is none of a language model
            print(f"{name}: left out: {type(error).__name__}", file=sys.stderr)
            continue
        if found.get("num_hidden_layers") and found.get("num_attention_heads"):
            models[name] = found
    document = {
        "source": f"configuration classes of transformers {transformers.__version__}",
        "date": datetime.date.today().isoformat(),
        "models": models,
    }
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


def defaults(kind: Any) -> dict[str, Any]:
    """The class's own values, not those that it works out from others: a head size that follows from the width is left out."""
    found = {key: value for key in KEYS if (value := getattr(kind, key, None)) is not None and _plain(value)}
    made = kind().to_dict()
    if made.get("rope_parameters"):
        found["rope_parameters"] = made["rope_parameters"]
    if made.get("layer_types"):
        found["layer_pattern"] = period(made["layer_types"])
    return found


def period(layers: list[str]) -> list[str]:
    """The shortest beginning that the list repeats; the rest may be cut off."""
    for length in range(1, len(layers) + 1):
        if all(kind == layers[at % length] for at, kind in enumerate(layers)):
            return layers[:length]
    return layers


def _plain(value: object) -> bool:
    return isinstance(value, bool | int | float | str)


if __name__ == "__main__":
    main()
