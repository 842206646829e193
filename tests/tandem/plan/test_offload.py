"""The Prefill-as-a-Service case study, and the rules of offload. Tolerances are those of the facts' section 1.5."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tandem.facts.tables import document
from tandem.plan.lengths import Lengths
from tandem.plan.offload.optimum import Optimum, Sites, at, best
from tandem.plan.offload.price import compare
from tandem.plan.offload.profile import paper_profiles
from tandem.plan.offload.routing import Place, Request, State, next_threshold, replan, route
from tandem.plan.shape import shape_of

H200, H20, KV, DECODE = paper_profiles()
LENGTHS = Lengths.lognormal(9.9, 1.0, 128, 131_072)
OFFLOAD = Sites(LENGTHS, KV, H20, 8, DECODE, H200, 4, 100.0)
HOMOGENEOUS = Sites(LENGTHS, KV, H20, 12, DECODE)
BEST = best(OFFLOAD)
NAIVE = at(OFFLOAD, 0, 8, 0.0)
TOGETHER = best(HOMOGENEOUS)
PRINTED = {row["config"]: row for row in document("prfaas")["case_study"]["table6"]}


def near(value: float, share: float) -> object:
    return pytest.approx(value, rel=share)


def test_the_length_distribution_is_the_paper_s() -> None:
    assert LENGTHS.mean == near(27_486, 0.001)
    assert BEST.offloaded_share == pytest.approx(0.496, abs=0.005)


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ("PrfaaS-PD", BEST),
        ("Homogeneous PD (96 H20)", TOGETHER),
        ("Naive heterogeneous (all prefill on H200, all H20 decode)", NAIVE),
    ],
)
def test_each_configuration_of_table_6_comes_out(config: str, found: Optimum) -> None:
    row = PRINTED[config]
    assert found.served == near(row["Lambda"], 0.02)
    assert (found.prefill_instances, found.decode_instances) == (row["N_p"], row["N_d"])
    for value, name in ((found.remote, "Theta_prfaas"), (found.local, "Theta_pd_p"), (found.decode, "Theta_pd_d")):
        assert row[name] is None or value == near(row[name], 0.02), name
    assert found.ttft_mean == near(row["ttft_mean_s"], 0.03)
    assert found.ttft_p90 == near(row["ttft_p90_s"], 0.03)


def test_the_threshold_is_found_and_the_gains_are_the_printed_ones() -> None:
    assert BEST.threshold == pytest.approx(19_400, abs=200)
    assert BEST.served / TOGETHER.served == near(1.54, 0.02)
    assert BEST.served / NAIVE.served == near(1.32, 0.02)
    assert 12.0 <= BEST.egress_gbps <= 13.2


@pytest.mark.parametrize(
    ("prefill", "served"), [(1, 2.753), (2, 3.006), (3, 3.252), (4, 3.125), (5, 2.344), (6, 1.563), (7, 0.781)]
)
def test_every_other_split_is_worse_by_as_much_as_reproduced(prefill: int, served: float) -> None:
    found = max((at(OFFLOAD, prefill, 8 - prefill, t) for t in range(5_000, 60_000, 100)), key=lambda o: o.served)
    assert found.served == near(served, 0.005)


@pytest.mark.parametrize(
    ("model", "index", "gpus", "gbps"),
    [
        ("MiniMax-M2.5", 2, 512, 3_800),
        ("Qwen3-235B", 2, 512, 2_100),
        ("Ring-2.5-1T", 2, 512, 170),
        ("Ring-2.5-1T", 3, 10_000, 1_800),
    ],
)
def test_egress_of_whole_clusters_is_the_printed_one(model: str, index: int, gpus: int, gbps: float) -> None:
    per_instance = document("prfaas")["table3_gbps"]["values"][model][index]
    assert gpus / 8 * per_instance == near(gbps, 0.03)


def test_a_lost_link_plans_without_offload() -> None:
    assert replan(OFFLOAD, 0.0).threshold is None


@given(st.floats(0.1, 400), st.floats(1.0, 4.0))
def test_a_faster_link_never_serves_less(gbps: float, times: float) -> None:
    slow, fast = (best(dataclasses.replace(OFFLOAD, link_gbps=rate)) for rate in (gbps, gbps * times))
    assert fast.served >= slow.served * (1 - 1e-9)


@given(st.integers(1, 131_072), st.floats(0, 100), st.floats(0, 100), st.booleans())
def test_nothing_leaves_home_at_or_below_the_threshold_or_without_a_link(
    tokens: int, link: float, wait: float, ready: bool
) -> None:
    state = State(19_400, link, link / 2, home_wait_seconds=wait, away_ready=ready)
    choice = route(Request(tokens), state, OFFLOAD)
    if tokens <= 19_400 or not ready or link == 0:
        assert choice.place is Place.HOME, choice.reason


def test_a_cached_prefix_keeps_a_long_prompt_home_and_a_remote_one_only_where_the_link_is_abundant() -> None:
    state = State(19_400, 100, 10)
    assert route(Request(60_000), state, OFFLOAD).place is Place.AWAY
    assert route(Request(60_000, prefix_home=50_000), state, OFFLOAD).place is Place.HOME
    assert route(Request(60_000, prefix_away=50_000), state, OFFLOAD).place is Place.AWAY
    assert route(Request(60_000, prefix_away=50_000), state, OFFLOAD, abundant=True).place is Place.HOME


def test_a_full_link_raises_the_threshold_and_a_free_one_leaves_it() -> None:
    assert next_threshold(State(10_000, 100, 95), OFFLOAD) == pytest.approx(11_500)
    assert next_threshold(State(10_000, 100, 20), OFFLOAD) == 10_000


@pytest.mark.parametrize(
    ("model", "low", "high"), [("meta-llama/Llama-3.1-70B", 8, 12), ("deepseek-ai/DeepSeek-V3", 2.5, 5)]
)
def test_dense_kv_across_regions_costs_several_times_of_prefilling_again(model: str, low: float, high: float) -> None:
    found = compare(shape_of(model), 8_000, 0.02, 6.88, 989)
    assert low <= found.times <= high
    assert found.verdict.startswith("do not offload")
    assert compare(shape_of(model), 8_000, found.break_even_usd_per_gb * 0.99, 6.88, 989).times < 1
