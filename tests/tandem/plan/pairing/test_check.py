"""A pair is judged by what decides its KV and its answers, whoever wrote the files and however."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tandem.facts.instances import instances
from tandem.plan.pairing.check import check
from tandem.plan.pairing.engine import EngineSide, arguments
from tandem.plan.pairing.files import Tensor
from tandem.plan.pairing.verdict import Verdict

from tests.tandem.plan.pairing.checkpoints import (
    DEEPSEEK,
    FAMILIES,
    FP8_BLOCK,
    GEMMA,
    HYBRID,
    LLAMA,
    QWEN,
    QWEN_MOE,
    W4A8_INT,
    W4A8_PACKED,
    W4A16,
    W8A8_FP8,
    W8A8_INT8,
    as_transformers_5,
    files,
)


def side(instance_type: str | None = None, **flags: object) -> EngineSide:
    found, wrong = arguments(flags, "engine")
    assert wrong == []
    return EngineSide(instances()[instance_type] if instance_type else None, found)


@pytest.mark.parametrize("family", FAMILIES)
def test_two_quantizations_of_one_model_are_a_pair(family: str) -> None:
    answer = check(files(FAMILIES[family], W8A8_FP8), files(FAMILIES[family], W4A16))
    assert answer.reasons == ()
    assert answer.verdict is Verdict.COMPATIBLE


@pytest.mark.parametrize("family", FAMILIES)
def test_a_config_of_transformers_4_and_one_of_5_say_the_same(family: str) -> None:
    old, new = FAMILIES[family], as_transformers_5(FAMILIES[family])
    assert old != new
    assert check(files(old, W8A8_FP8), files(new, W4A16)).reasons == ()


@pytest.mark.parametrize(
    ("config", "left_out"),
    [
        (LLAMA, {"head_dim": 128}),
        (GEMMA, {"head_dim": 256}),
        (QWEN, {"use_sliding_window": False}),
        (QWEN, {"tie_word_embeddings": False}),
        (DEEPSEEK, {"num_experts_per_tok": 8}),
        (HYBRID, {"linear_conv_kernel_dim": 4}),
        (HYBRID, {"partial_rotary_factor": 0.25}),
    ],
)
def test_a_key_that_is_left_out_means_the_default_of_the_models_class(
    config: dict[str, Any], left_out: dict[str, Any]
) -> None:
    short = {key: value for key, value in config.items() if key not in left_out}
    assert check(files(config | left_out), files(short)).reasons == ()


def test_a_multimodal_models_language_part_counts() -> None:
    whole = {"model_type": "gemma3", "text_config": GEMMA, "vision_config": {"hidden_size": 1152}}
    assert check(files(whole, W8A8_FP8), files(whole, W4A16)).reasons == ()


@pytest.mark.parametrize(
    ("code", "config", "change"),
    [
        ("layers", LLAMA, {"num_hidden_layers": 31}),
        ("kv_heads", LLAMA, {"num_key_value_heads": 4}),
        ("kv_heads", LLAMA, {"num_key_value_heads": None}),
        ("head_dim", LLAMA, {"head_dim": 64}),
        ("mla", DEEPSEEK, {"kv_lora_rank": 256}),
        ("mla", DEEPSEEK, {"qk_rope_head_dim": 32}),
        ("attention", DEEPSEEK, {"kv_lora_rank": None}),
        ("rope", LLAMA, {"rope_theta": 10000.0}),
        ("rope", LLAMA, {"rope_scaling": {**LLAMA["rope_scaling"], "factor": 32.0}}),  # type: ignore[dict-item]
        ("rope", LLAMA, {"rope_scaling": None}),
        ("rope", GEMMA, {"rope_local_base_freq": 1000.0}),
        ("rope", DEEPSEEK, {"rope_scaling": {**DEEPSEEK["rope_scaling"], "mscale": 0.7}}),  # type: ignore[dict-item]
        ("partial_rotary", HYBRID, {"partial_rotary_factor": 0.5}),
        ("sliding_window", GEMMA, {"sliding_window": 512}),
        ("layer_pattern", GEMMA, {"sliding_window_pattern": 4}),
        ("layer_pattern", QWEN, {"use_sliding_window": True, "max_window_layers": 14}),
        ("layer_pattern", HYBRID, {"full_attention_interval": 3}),
        ("state", HYBRID, {"linear_num_value_heads": 16}),
        ("vocabulary", LLAMA, {"vocab_size": 128258}),
        ("dtype", LLAMA, {"torch_dtype": "float16"}),
        ("dtype", LLAMA, {"torch_dtype": None}),
        ("speculative_head", DEEPSEEK, {"num_nextn_predict_layers": 0}),
        ("end_tokens", LLAMA, {"eos_token_id": 128001}),
        ("base_model", LLAMA, {"hidden_size": 2048, "head_dim": 128}),
        ("base_model", QWEN_MOE, {"num_experts": 64}),
        ("base_model", LLAMA, {"model_type": "mistral", "sliding_window": None}),
    ],
)
def test_halves_that_cannot_share_kv_are_told_apart_with_the_reason(
    code: str, config: dict[str, Any], change: dict[str, Any]
) -> None:
    answer = check(files(config, W8A8_FP8), files(config | change, W4A16))
    assert answer.verdict is Verdict.INCOMPATIBLE
    assert code in {reason.code for reason in answer.reasons}


@pytest.mark.parametrize(
    ("code", "left", "right"),
    [
        ("kv_dtype", {"kv-cache-dtype": "bfloat16"}, {"kv-cache-dtype": "auto"}),
        ("kv_dtype", {"kv-cache-dtype": "bf16"}, {"kv-cache-dtype": "bfloat16"}),
        ("kv_dtype", {"kv_cache_dtype": "fp8_e4m3"}, {"kv_cache_dtype": "bfloat16"}),
        ("dtype", {"dtype": "bfloat16"}, {"dtype": "float16"}),
        ("page_size", {"page-size": 64}, {"page-size": 16}),
        (
            "page_size",
            {"page-size": 64, "attention-backend": "fa4"},
            {"page-size": 64, "attention-backend": "flashmla"},
        ),
        ("context_length", {"context-length": 8192}, {"context-length": 4096}),
        ("served_name", {"served-model-name": "a"}, {"served-model-name": "b"}),
        (
            "transfer_backend",
            {"disaggregation-transfer-backend": "mooncake"},
            {"disaggregation-transfer-backend": "nixl"},
        ),
        ("speculative", {"speculative-algorithm": "EAGLE"}, {}),
        ("pipeline_parallel", {"pp-size": 2}, {"pp-size": 4}),
    ],
)
def test_arguments_that_the_two_roles_must_share_are_compared(
    code: str, left: dict[str, object], right: dict[str, object]
) -> None:
    gpu = "p6-b200.48xlarge" if "fa4" in left.values() else "p5en.48xlarge"
    engines = {"prefill": side(gpu, **left), "decode": side(gpu, **right)}
    answer = check(files(LLAMA, W8A8_FP8), files(LLAMA, W4A16), engines)
    assert answer.verdict is Verdict.INCOMPATIBLE
    assert code in {reason.code for reason in answer.reasons}


def test_the_page_size_that_counts_is_the_one_that_the_gpu_makes_of_it() -> None:
    engines = {"prefill": side("p5en.48xlarge"), "decode": side("p6-b200.48xlarge")}
    answer = check(files(LLAMA, W8A8_FP8), files(LLAMA, W4A16), engines)
    assert [reason.code for reason in answer.reasons] == ["page_size"]
    given = {role: dataclasses.replace(each, arguments={"--page-size": "64"}) for role, each in engines.items()}
    assert check(files(LLAMA, W8A8_FP8), files(LLAMA, W4A16), given).reasons == ()


@pytest.mark.parametrize(
    ("config", "quantization", "instance_type"),
    [
        (LLAMA, W4A8_INT, None),
        (LLAMA, W4A8_PACKED, "p5en.48xlarge"),
        (LLAMA, W8A8_INT8, "p6-b200.48xlarge"),
        (LLAMA, W8A8_FP8, "p4d.24xlarge"),
        (QWEN_MOE, W8A8_INT8, "p5en.48xlarge"),
        (QWEN_MOE, W4A8_PACKED, "g6e.12xlarge"),
    ],
)
def test_a_scheme_that_its_gpu_cannot_run_is_refused_with_the_nearest_that_can(
    config: dict[str, Any], quantization: dict[str, Any], instance_type: str | None
) -> None:
    engines = {"decode": side(instance_type)}
    answer = check(files(config, W8A8_FP8), files(config, quantization), engines)
    refused = [reason for reason in answer.reasons if reason.code == "scheme"]
    assert [reason.verdict for reason in refused] == [Verdict.REFUSED]
    assert refused[0].where.startswith("decode")
    assert refused[0].fix


@pytest.mark.parametrize(
    ("config", "quantization", "flags", "code"),
    [
        (LLAMA, W4A16, {"tp-size": 3}, "tensor_parallel"),
        (LLAMA, W4A16, {"tp-size": 16}, "tensor_parallel"),
        (QWEN_MOE, W4A16, {"tp-size": 4}, "group_size"),
        (LLAMA, W4A16, {"quantization": "fp8"}, "quantization_flag"),
        (LLAMA, {"quant_method": "awq", "bits": 4, "group_size": 128}, {"quantization": "awq"}, "dtype"),
    ],
)
def test_an_engine_that_cannot_start_is_refused(
    config: dict[str, Any], quantization: dict[str, Any], flags: dict[str, object], code: str
) -> None:
    answer = check(files(config, W8A8_FP8), files(config, quantization), {"decode": side("p5en.48xlarge", **flags)})
    assert (Verdict.REFUSED, code) in {(reason.verdict, reason.code) for reason in answer.reasons}


def test_different_degrees_of_parallelism_are_fine_but_where_a_state_is_cut() -> None:
    engines = {"prefill": side(tp_size=2), "decode": side(tp_size=8)}
    assert check(files(DEEPSEEK, FP8_BLOCK), files(DEEPSEEK, FP8_BLOCK), engines).reasons == ()
    answer = check(files(HYBRID), files(HYBRID), engines)
    assert answer.verdict is Verdict.UNPROVED


def test_a_modelopt_checkpoint_turns_auto_into_8_bits() -> None:
    modelopt = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}
    answer = check(files(LLAMA, None, modelopt=modelopt), files(LLAMA, W4A16))
    assert "kv_dtype" in {reason.code for reason in answer.reasons}
    both = {role: side(kv_cache_dtype="bfloat16") for role in ("prefill", "decode")}
    assert "kv_dtype" not in {
        r.code for r in check(files(LLAMA, None, modelopt=modelopt), files(LLAMA, W4A16), both).reasons
    }


SCALE = "model.layers.0.self_attn.k_scale"
FP8_KV = {role: side(kv_cache_dtype="fp8_e4m3") for role in ("prefill", "decode")}


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        ({}, {}, Verdict.COMPATIBLE),
        ({SCALE: 0.5}, {SCALE: 0.5}, Verdict.COMPATIBLE),
        ({SCALE: 0.5}, {SCALE: 0.25}, Verdict.INCOMPATIBLE),
        ({SCALE: 0.5}, {}, Verdict.INCOMPATIBLE),
        ({SCALE: None}, {SCALE: None}, Verdict.UNPROVED),
        (None, None, Verdict.UNPROVED),
    ],
)
def test_8_bit_kv_needs_equal_scales(
    left: dict[str, float | None] | None, right: dict[str, float | None] | None, verdict: Verdict
) -> None:
    def made(scales: dict[str, float | None] | None) -> Any:
        if scales is None:
            return files(LLAMA, W8A8_FP8)
        tensors = {name: Tensor("F32", (1,)) for name in scales}
        known = {name: value for name, value in scales.items() if value is not None}
        return files(LLAMA, W8A8_FP8, tensors=tensors, scales=known)

    assert check(made(left), made(right), FP8_KV).verdict is verdict


def test_tokenizers_and_templates_are_compared() -> None:
    good = {"tokenizer.json": "a"}
    assert check(files(LLAMA, tokenizer=good), files(LLAMA, tokenizer=good)).reasons == ()
    other = check(files(LLAMA, tokenizer=good), files(LLAMA, tokenizer={"tokenizer.json": "b"}))
    assert [(r.verdict, r.code) for r in other.reasons] == [(Verdict.INCOMPATIBLE, "tokenizer")]
    lacking = check(files(LLAMA, tokenizer=good), files(LLAMA))
    assert [(r.verdict, r.code) for r in lacking.reasons] == [(Verdict.UNPROVED, "tokenizer")]
    template = check(files(LLAMA, chat_template="a"), files(LLAMA, chat_template="b"))
    assert [(r.verdict, r.code) for r in template.reasons] == [(Verdict.INCOMPATIBLE, "chat_template")]


def test_bases_of_equal_shape_are_told_apart_by_a_tensor_that_neither_half_quantizes() -> None:
    norm = {"model.norm.weight": Tensor("BF16", (4096,))}
    one = files(LLAMA, W8A8_FP8, tensors=norm, digests={"model.norm.weight": "1"})
    same = files(LLAMA, W4A16, tensors=norm, digests={"model.norm.weight": "1"})
    other = files(LLAMA, W4A16, tensors=norm, digests={"model.norm.weight": "2"})
    assert check(one, same).reasons == ()
    assert [(r.verdict, r.code) for r in check(one, other).reasons] == [(Verdict.INCOMPATIBLE, "base_model")]


def test_an_unknown_class_with_a_key_missing_is_unproved_and_names_the_key() -> None:
    unknown = {key: value for key, value in LLAMA.items() if key != "num_hidden_layers"} | {"model_type": "no_such"}
    answer = check(files(unknown), files(LLAMA))
    assert answer.verdict is Verdict.UNPROVED
    assert "num_hidden_layers" in answer.reasons[0].message
