"""What a serving stack's file may say, both sides of every rule."""

from __future__ import annotations

from typing import Any

import pytest
from tandem.config.base import Colour, NodeClass, Role
from tandem.config.serving import ServingStack

from tests.tandem.plan.serving_sites import stack
from tests.tandem.stacks import data, faults, load, only_fault


def description(environment: str = "local") -> dict[str, Any]:
    return data(f"{environment}-serving")


def changed(path: str, value: Any, environment: str = "local") -> dict[str, Any]:
    """A stack's description with one value changed; `path` in dots."""
    described = description(environment)
    here: Any = described
    *parents, last = path.split(".")
    for part in parents:
        here = here[part]
    here[last] = value
    return described


PAIR = "colours.blue.pair"


def test_the_stack_files_of_the_checkout_are_accepted() -> None:
    for name in ("local-serving", "dev-serving"):
        parsed = load(name)
        assert isinstance(parsed, ServingStack)
        assert parsed.cluster(Role.PREFILL).node_class is NodeClass.COMPUTE
        assert parsed.cluster(Role.DECODE).node_class is NodeClass.BANDWIDTH


def test_the_deployment_guides_block_is_accepted_as_it_stands() -> None:
    guide = {
        "prefill_cluster": {
            "min_nodes": 2,
            "max_nodes": 10,
            "instance_type": "compute_optimized",
            "quantization": "w8a8",
        },
        "decode_cluster": {
            "min_nodes": 4,
            "max_nodes": 20,
            "instance_type": "memory_optimized",
            "quantization": "w4a8",
        },
        "cache_transfer": {"type": "distributed_kv_store", "timeout_ms": 500},
    }
    gateway = {"listen_port": 8080, "max_concurrent_requests": 1000, "tag": "1"}
    assert faults(description() | guide | {"gateway": gateway}) == []


def test_the_deployment_guides_values_are_the_defaults() -> None:
    described = description()
    for key in ("prefill_cluster", "decode_cluster", "cache_transfer"):
        del described[key]
    described["gateway"] = {"tag": "1"}
    parsed = stack(described)
    assert (parsed.gateway.listen_port, parsed.gateway.max_concurrent_requests) == (8080, 1000)
    assert (parsed.prefill_cluster.min_nodes, parsed.prefill_cluster.max_nodes) == (2, 10)
    assert (parsed.decode_cluster.min_nodes, parsed.decode_cluster.max_nodes) == (4, 20)
    assert parsed.cache_transfer.timeout_ms == 500


@pytest.mark.parametrize(
    ("path", "value", "rule", "fix"),
    [
        ("gateway.listen_port", 80, "without root", "Write 8080"),
        ("gateway.listen_port", 29000, "metrics", "Write 8080"),
        ("gateway.max_concurrent_requests", 1, "shared by the 2 gateways", "Write 2 or more"),
        ("prefill_cluster.max_nodes", 1, "below min_nodes = 2", "Write 2 or more"),
        ("prefill_cluster.instance_type", "p5en.48xlarge", "cluster stack only", "compute_optimized"),
        ("prefill_cluster.instance_type", "fast", "not a class", "compute_optimized or memory_optimized"),
        ("prefill_cluster.quantization", "w8a9", "not a family", "w8a8"),
        ("prefill_cluster.quantization", "auto", "resolved by each checkpoint", "w8a8"),
        ("decode_cluster.quantization", "w4a8-humming", "belongs to a checkpoint", "Write w4a8"),
        ("workers.startup_budget", 1, "below startup_probe_period", "Write 5 or more"),
        ("workers.engine_log_level", "info", "API keys in clear", "Write warning"),
        ("workers.engine_log_level", "loud", "not a level", "warning or error"),
        ("live", "green", "green runs nothing", "colours.green"),
        (f"{PAIR}.dtype", "auto", "own config.json", "bfloat16"),
        (f"{PAIR}.dtype", "float16", "not a value", "bfloat16"),
        (f"{PAIR}.kv_cache_dtype", "auto", "resolves `auto`", "bfloat16"),
        (f"{PAIR}.kv_cache_dtype", "bf16", "compares the literals", "bfloat16"),
        (f"{PAIR}.kv_cache_dtype", "fp8_e4m3", "equal k/v scales", "bfloat16"),
        (f"{PAIR}.attention_backend", "auto", "same literal", "Write the value out"),
        (f"{PAIR}.transfer_backend", "auto", "one protocol", "mooncake"),
        (f"{PAIR}.transfer_backend", "fake", "moves no KV", "mooncake"),
        (f"{PAIR}.prefill.scheme", "w8a8-fp8-chanel", "not a quantization scheme", "w8a8-fp8-channel"),
        (f"{PAIR}.prefill.scheme", "w4a16-awq", "prefill_cluster.quantization is w8a8", "to w4a16"),
        (f"{PAIR}.decode.scheme", "w4a8-fp8-experts", "no kernels of it for a dense model", "w4a8-humming"),
        (f"{PAIR}.context_length", 2000, "whole KV pages of 64", "Write 1984"),
        (f"{PAIR}.context_length", 262144, "context ends at 131072", "Write 131072 or less"),
        (f"{PAIR}.prefill.uri", "s3://bucket/key", "prefix in the weights bucket", "weights:"),
        (f"{PAIR}.prefill.digest", "sha256:12", "64 hex digits", "sha256sum"),
        (f"{PAIR}.engine.tag", "repo:1", "image tag", "1.13.0"),
        (f"{PAIR}.served_name", "two words", "send as `model`", "llama"),
        ("colours.blue.prefill.shared_memory", 32, "counts in memory = 32", "less than 32"),
        ("colours.blue.prefill.tensor_parallel", 3, "32 attention heads", "Write 2"),
    ],
)
def test_what_cannot_be_is_refused_with_its_rule_and_its_fix(path: str, value: Any, rule: str, fix: str) -> None:
    described = changed(path, value)
    if path == "workers.startup_budget":
        described["workers"]["startup_probe_period"] = 5
    found = [fault for fault in faults(described) if fault.where.endswith(path) and rule in fault.rule]
    assert found, f"no fault at {path} says {rule!r}: {[str(fault) for fault in faults(described)]}"
    assert fix in found[0].fix, str(found[0])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("gateway.listen_port", 1024),
        ("gateway.max_concurrent_requests", 2),
        ("prefill_cluster.max_nodes", 2),
        ("prefill_cluster.instance_type", "memory_optimized"),
        (f"{PAIR}.context_length", 2048 + 64),
        (f"{PAIR}.decode.scheme", None),
        ("workers.engine_log_level", "error"),
        ("colours.blue.prefill.shared_memory", 31),
        ("colours.blue.prefill.tensor_parallel", 2),
    ],
)
def test_the_nearest_that_works_is_accepted(path: str, value: Any) -> None:
    assert faults(changed(path, value)) == []


def test_kv_heads_divide_over_gpus_or_gpus_over_kv_heads() -> None:
    described = changed(f"{PAIR}.model.attention", {"kind": "grouped", "heads": 24, "kv_heads": 4, "head_dim": 128})
    described["colours"]["blue"]["prefill"]["tensor_parallel"] = 3
    described["colours"]["blue"]["decode"]["tensor_parallel"] = 3
    found = [fault for fault in faults(described) if "4 KV heads" in fault.rule]
    assert len(found) == 2 and found[0].fix == "Write 2"


def test_groups_of_a_scheme_stay_whole_over_gpus() -> None:
    described = changed(f"{PAIR}.model.intermediate_size", 128 * 3)
    described["colours"]["blue"]["decode"]["tensor_parallel"] = 2
    found = only_fault(described)
    assert "groups of 128 columns" in found.rule and found.fix == "Write 1"


def test_roles_with_unrelated_parallelism_are_refused() -> None:
    described = changed(f"{PAIR}.model.attention", {"kind": "grouped", "heads": 48, "kv_heads": 1, "head_dim": 128})
    described["colours"]["blue"]["prefill"]["tensor_parallel"] = 3
    described["colours"]["blue"]["decode"] |= {"tensor_parallel": 2}
    assert [f.fix for f in faults(described) if "slices of heads" in f.rule] == ["Write 3"]


def test_the_real_engine_needs_digests_of_both_checkpoints() -> None:
    described = description("dev")
    del described["colours"]["blue"]["pair"]["decode"]["digest"]
    assert only_fault(described).where.endswith("pair.decode.digest")


def test_one_digest_cannot_be_two_schemes() -> None:
    described = description("dev")
    pair = described["colours"]["blue"]["pair"]
    pair["decode"]["digest"] = pair["prefill"]["digest"]
    assert "schemes differ" in only_fault(described).rule


def test_late_allocation_needs_mooncake_and_one_layout() -> None:
    described = changed(f"{PAIR}.allocation_policy", "prefill_complete")
    assert faults(described) == []
    described["colours"]["blue"]["pair"]["transfer_backend"] = "nixl"
    assert "Mooncake only" in only_fault(described).rule
    described["colours"]["blue"]["pair"]["transfer_backend"] = "mooncake"
    described["colours"]["blue"]["decode"]["tensor_parallel"] = 2
    assert "one GPU an engine" in only_fault(described).rule


def test_an_engine_without_kind_or_with_a_misspelt_key_is_refused_at_its_own_place() -> None:
    found = only_fault(changed(f"{PAIR}.engine", {"kind": "simulated", "tag": "1", "sped": 2}))
    assert found.where.endswith("colours.blue.pair.engine.sped"), "the union's member is no part of the place"
    assert "speed" in found.fix


def test_one_gateway_is_not_enough() -> None:
    assert only_fault(changed("colours.blue.gateways", 1)).where.endswith("colours.blue.gateways")


def test_all_faults_come_at_once() -> None:
    described = changed("gateway.listen_port", 80)
    described["prefill_cluster"]["max_nodes"] = 1
    described["colours"]["blue"]["pair"]["kv_cache_dtype"] = "auto"
    assert len(faults(described)) == 3


def test_both_colours_are_told_in_the_same_order_every_time() -> None:
    described = description()
    described["colours"] = {"green": described["colours"]["blue"], "blue": described["colours"]["blue"]}
    assert [colour for colour, _ in stack(described).colours.present()] == [Colour.BLUE, Colour.GREEN]
