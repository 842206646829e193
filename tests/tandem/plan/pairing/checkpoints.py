"""Small checkpoints of the model families, as transformers 4 and 5 write them, and quantized as the common tools do."""

from __future__ import annotations

import copy
from typing import Any

from tandem.plan.pairing.files import CheckpointFiles

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "rope_scaling": {
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
    "eos_token_id": [128001, 128009],
}
QWEN = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "intermediate_size": 18944,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "rope_theta": 1000000.0,
    "sliding_window": 131072,
    "use_sliding_window": False,
    "max_window_layers": 28,
    "torch_dtype": "bfloat16",
    "vocab_size": 152064,
}
QWEN_MOE = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "rope_theta": 1000000.0,
    "torch_dtype": "bfloat16",
    "vocab_size": 151936,
}
DEEPSEEK = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "num_nextn_predict_layers": 1,
    "rope_theta": 10000,
    "rope_scaling": {
        "beta_fast": 32,
        "beta_slow": 1,
        "factor": 40,
        "mscale": 1.0,
        "mscale_all_dim": 1.0,
        "type": "yarn",
    },
    "torch_dtype": "bfloat16",
    "vocab_size": 129280,
}
GEMMA = {
    "model_type": "gemma3_text",
    "hidden_size": 3840,
    "intermediate_size": 15360,
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 256,
    "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0,
    "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
    "sliding_window": 1024,
    "sliding_window_pattern": 6,
    "torch_dtype": "bfloat16",
    "vocab_size": 262208,
}
HYBRID = {
    "model_type": "qwen3_next",
    "hidden_size": 2048,
    "intermediate_size": 5120,
    "moe_intermediate_size": 512,
    "num_experts": 512,
    "num_experts_per_tok": 10,
    "num_hidden_layers": 48,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "full_attention_interval": 4,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_value_head_dim": 128,
    "partial_rotary_factor": 0.25,
    "rope_theta": 10000000,
    "torch_dtype": "bfloat16",
    "vocab_size": 151936,
}
FAMILIES = {
    "llama": LLAMA,
    "qwen": QWEN,
    "qwen-moe": QWEN_MOE,
    "deepseek": DEEPSEEK,
    "gemma": GEMMA,
    "hybrid": HYBRID,
}


def compressed(weight_bits: int, kind: str, input_bits: int | None, form: str, **weights: Any) -> dict[str, Any]:
    """A `quantization_config` as llm-compressor writes it."""
    inputs = {"num_bits": input_bits, "type": kind, "dynamic": True, "strategy": "token"} if input_bits else None
    group = {
        "weights": {"num_bits": weight_bits, "type": kind, **weights},
        "input_activations": inputs,
        "targets": ["Linear"],
    }
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
    }


W8A8_INT8 = compressed(8, "int", 8, "int-quantized", strategy="channel")
W8A8_FP8 = compressed(8, "float", 8, "float-quantized", strategy="channel")
W4A16 = compressed(4, "int", None, "pack-quantized", strategy="group", group_size=128)
W4A8_PACKED = compressed(4, "int", 8, "pack-quantized", strategy="group", group_size=128)
W4A8_INT = compressed(4, "int", 8, "int-quantized", strategy="group", group_size=128)
FP8_BLOCK = {"quant_method": "fp8", "weight_block_size": [128, 128], "activation_scheme": "dynamic"}


def files(config: dict[str, Any], quantization: dict[str, Any] | None = None, **changes: Any) -> CheckpointFiles:
    """A checkpoint of that model. `changes` are other fields of `CheckpointFiles`."""
    whole = copy.deepcopy(config) | ({"quantization_config": copy.deepcopy(quantization)} if quantization else {})
    return CheckpointFiles(where="/checkpoints/it", config=whole, **changes)


def as_transformers_5(config: dict[str, Any]) -> dict[str, Any]:
    """The same model as transformers 5 saves it: one rope dictionary, a list of layer types, `dtype`."""
    new = copy.deepcopy(config)
    new["dtype"] = new.pop("torch_dtype")
    rope: dict[str, Any] = {
        "rope_theta": new.pop("rope_theta"),
        **(new.pop("rope_scaling", None) or {"rope_type": "default"}),
    }
    rope["rope_type"] = rope.pop("type", rope.get("rope_type"))
    if "partial_rotary_factor" in new:
        rope["partial_rotary_factor"] = new.pop("partial_rotary_factor")
    local = new.pop("rope_local_base_freq", None)
    if local is not None:
        sliding = {"rope_theta": local, "rope_type": "default"}
        new["rope_parameters"] = {"full_attention": rope, "sliding_attention": sliding}
    else:
        new["rope_parameters"] = rope
    every = new.pop("sliding_window_pattern", None) or new.pop("full_attention_interval", None)
    if every:
        other = "sliding_attention" if local is not None else "linear_attention"
        layers = range(new["num_hidden_layers"])
        new["layer_types"] = ["full_attention" if (at + 1) % every == 0 else other for at in layers]
    return new
