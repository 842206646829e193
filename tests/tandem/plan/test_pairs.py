"""Pair revision, KV bytes and the choice of schemes."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tandem.config.base import Role
from tandem.config.pair import Checkpoint, LatentAttention, Pair
from tandem.facts.schemes import Scheme, schemes
from tandem.plan import pairs

from tests.tandem import stacks
from tests.tandem.plan import serving_sites

IMAGE = "registry.test/engine-sim:1"
CHOSEN = {Role.PREFILL: schemes()["w8a8-fp8-channel"], Role.DECODE: schemes()["w4a8-humming"]}
ONE_GPU = {Role.PREFILL: 1, Role.DECODE: 1}


def pair(**changes: Any) -> Pair:
    described = stacks.data("local-serving")["colours"]["blue"]["pair"]
    return Pair.model_validate(described | changes)


def revision(described: Pair, image: str = IMAGE) -> str:
    return pairs.revision(described, image, CHOSEN, ONE_GPU)


def test_a_revision_is_twelve_hex_digits_and_the_same_every_time() -> None:
    first = revision(pair())
    assert first == revision(pair())
    assert len(first) == 12 and int(first, 16) >= 0


@pytest.mark.parametrize(
    "change",
    [
        {"served_name": "other"},
        {"page_size": 32},
        {"context_length": 1024},
        {"attention_backend": "fa3"},
        {"transfer_backend": "nixl"},
        {"allocation_policy": "prefill_complete"},
        {"tool_call_parser": "llama3"},
        {"decode": {"uri": "/models/other", "scheme": "w4a8-humming"}},
    ],
)
def test_everything_that_decides_kv_or_answers_changes_the_revision(change: dict[str, Any]) -> None:
    assert revision(pair(**change)) != revision(pair())


def test_image_scheme_and_parallelism_change_the_revision() -> None:
    same = pair()
    assert revision(same, "registry.test/engine-sim:2") != revision(same)
    other = {**CHOSEN, Role.DECODE: schemes()["w4a16-awq"]}
    assert pairs.revision(same, IMAGE, other, ONE_GPU) != revision(same)
    assert pairs.revision(same, IMAGE, CHOSEN, {Role.PREFILL: 2, Role.DECODE: 1}) != revision(same)


def test_the_speed_of_a_simulation_does_not_change_the_revision() -> None:
    assert revision(pair(engine={"kind": "simulated", "tag": "1", "speed": 9})) == revision(
        pair(engine={"kind": "simulated", "tag": "1", "speed": 1})
    )


def test_where_files_lie_decides_nothing_once_they_have_a_digest() -> None:
    digest = "sha256:" + "0" * 64
    here, there = ({"uri": uri, "digest": digest, "scheme": "w4a8-humming"} for uri in ("/a", "weights:b"))
    assert revision(pair(decode=here)) == revision(pair(decode=there))


def test_replicas_and_probes_do_not_change_the_revision_of_a_plan() -> None:
    described = stacks.data("local-serving")
    before = serving_sites.plan(described).triples["blue"].revision
    changed = copy.deepcopy(described)
    changed["colours"]["blue"]["prefill"]["replicas"] = 3
    changed["workers"]["startup_budget"] = 99
    assert serving_sites.plan(changed).triples["blue"].revision == before


def test_kv_bytes_are_the_published_ones() -> None:
    llama = pair().model
    assert pairs.kv_bytes_per_token(llama, "bfloat16") == 131072, "Llama-3.1-8B"
    big = llama.model_copy(update={"layers": 80})
    assert pairs.kv_bytes_per_token(big, "bfloat16") == 327680, "Llama-3.1-70B"
    latent = LatentAttention(kind="latent", heads=128, head_dim=128, kv_lora_rank=512, rope_head_dim=64)
    deepseek = llama.model_copy(update={"layers": 61, "attention": latent})
    assert pairs.kv_bytes_per_token(deepseek, "bfloat16") == 61 * 576 * 2


def chosen(scheme: str | None, family: str, capability: int, architecture: str = "dense") -> Scheme | pairs.Refused:
    model = pair().model.model_copy(update={"architecture": architecture})
    return pairs.resolve_scheme(Checkpoint(uri="/m", scheme=scheme), family, model, "GPU", capability)


@pytest.mark.parametrize(
    ("family", "capability", "architecture", "name"),
    [
        ("w8a8", 80, "dense", "w8a8-int8"),
        ("w8a8", 89, "dense", "w8a8-fp8-channel"),
        ("w8a8", 100, "dense", "w8a8-fp8-channel"),
        ("w4a8", 90, "moe", "w4a8-fp8-experts"),
        ("w4a8", 90, "dense", "w4a8-humming"),
        ("w4a8", 80, "moe", "w4a8-humming"),
        ("w4a16", 80, "dense", "w4a16-compressed-tensors"),
        ("bf16", 80, "moe", "bf16"),
    ],
)
def test_a_family_resolves_to_a_scheme_that_the_nodes_run(
    family: str, capability: int, architecture: str, name: str
) -> None:
    scheme = chosen(None, family, capability, architecture)
    assert isinstance(scheme, Scheme) and scheme.name == name


@pytest.mark.parametrize(
    ("scheme", "family", "capability", "architecture", "nearest"),
    [
        ("w8a8-int8", "w8a8", 100, "dense", "w8a8-fp8-channel"),
        ("w8a8-fp8-channel", "w8a8", 80, "dense", "w8a8-int8"),
        ("w4a8-fp8-experts", "w4a8", 89, "moe", "w4a8-humming"),
        ("w4a4-nvfp4", "w4a4", 90, "dense", "w4a16-compressed-tensors (and quantization: w4a16)"),
    ],
)
def test_a_scheme_that_cannot_run_is_refused_with_the_nearest_that_can(
    scheme: str, family: str, capability: int, architecture: str, nearest: str
) -> None:
    refused = chosen(scheme, family, capability, architecture)
    assert isinstance(refused, pairs.Refused)
    assert refused.fix == f"Nearest that can: {nearest}"
    assert f"sm{capability}" in refused.rule


def test_a_family_that_no_scheme_serves_is_refused_with_another_family() -> None:
    refused = chosen(None, "w4a4", 90)
    assert isinstance(refused, pairs.Refused) and "quantization: w4a16" in refused.fix


def test_canonical_json_is_one_text_a_value() -> None:
    assert pairs.canonical({"b": 1, "a": [1.5, None]}) == '{"a":[1.5,null],"b":1}'
    with pytest.raises(ValueError):
        pairs.canonical(float("nan"))
