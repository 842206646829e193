"""Shapes follow from a model's own config."""

from __future__ import annotations

import pytest
from tandem.errors import PlanError
from tandem.facts import models
from tandem.plan.pairs import kv_bytes_per_token
from tandem.plan.shape import read_shape, shape_of
from tandem.plan.vectors import array

from tests.tandem.stacks import load

MIB = 1 << 20

PUBLISHED = {
    "meta-llama/Llama-3.1-8B": (131_072, 1_024, 4_096, 8.03),
    "meta-llama/Llama-3.1-70B": (327_680, 2_560, 10_240, 70.55),
    "Qwen/Qwen3-8B": (147_456, 1_152, 4_608, 8.19),
    "Qwen/Qwen3-32B": (262_144, 2_048, 8_192, 32.76),
    "Qwen/Qwen3-235B-A22B": (192_512, 1_504, 6_016, 235),
    "MiniMaxAI/MiniMax-M2.5": (253_952, 1_984, 7_936, 229),
    "deepseek-ai/DeepSeek-V3": (70_272, 549, 2_196, 671),
    "Qwen/Qwen3.5-397B-A17B": (30_720, None, None, 397),
    "XiaomiMiMo/MiMo-V2-Flash": (23_040, None, None, 309),
}
"""Model -> KV bytes a token, MiB at 8K and 32K, billions of parameters."""


@pytest.mark.parametrize("name", PUBLISHED)
def test_kv_bytes_are_exactly_the_published_ones(name: str) -> None:
    per_token, at_8k, at_32k, _ = PUBLISHED[name]
    shape = shape_of(name)
    assert shape.kv_bytes_per_token(2) == per_token
    if at_8k is not None:
        assert (shape.kv_bytes(8192) / MIB, shape.kv_bytes(32768) / MIB) == (at_8k, at_32k)


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_within_two_percent_of_the_model_s_name(name: str) -> None:
    assert shape_of(name).parameters / 1e9 == pytest.approx(PUBLISHED[name][3], rel=0.02)


def test_a_token_uses_only_its_experts() -> None:
    assert shape_of("deepseek-ai/DeepSeek-V3").active_parameters / 1e9 == pytest.approx(37, rel=0.03)
    assert shape_of("Qwen/Qwen3-235B-A22B").active_parameters / 1e9 == pytest.approx(22, rel=0.03)


def test_fixed_state_is_the_published_one() -> None:
    assert shape_of("Qwen/Qwen3.5-397B-A17B").state_bytes() == 192_061_440
    assert shape_of("XiaomiMiMo/MiMo-V2-Flash").state_bytes() == 25_559_040


def test_one_token_reads_its_experts_and_a_large_batch_reads_all() -> None:
    shape = shape_of("deepseek-ai/DeepSeek-V3")
    assert shape.read_parameters(array(1))[0] == pytest.approx(shape.active_parameters)
    table = shape.hidden * shape.vocabulary
    assert shape.read_parameters(array(10_000))[0] == pytest.approx(shape.parameters - table, rel=1e-6)


def test_an_eight_bit_cache_is_half_the_bytes_and_leaves_a_recurrent_state_alone() -> None:
    shape = shape_of("Qwen/Qwen3.5-397B-A17B")
    assert shape.kv_bytes_per_token(1) == shape.kv_bytes_per_token(2) / 2
    assert shape.state_bytes(1) == shape.state_bytes(2)


def test_a_stack_s_model_has_the_same_kv_bytes_as_its_config() -> None:
    pair = dict(load("dev-serving").colours.present())["blue"].pair
    assert kv_bytes_per_token(pair.model, "bfloat16") == shape_of(pair.model.base).kv_bytes_per_token(2)


def test_every_missing_or_negative_key_is_named_at_once() -> None:
    config = dict(models.configs()["meta-llama/Llama-3.1-8B"], num_hidden_layers=-3)
    del config["hidden_size"]
    with pytest.raises(PlanError) as caught:
        read_shape(config, "x")
    assert "hidden_size: missing" in str(caught.value) and "num_hidden_layers: -3" in str(caught.value)


def test_a_model_without_config_is_refused_by_name() -> None:
    with pytest.raises(PlanError, match=r"model: nobody/knows - Tandem has no config"):
        shape_of("nobody/knows")
