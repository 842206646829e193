"""What the search must never do, whatever the numbers, and what it says where nothing fits."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tandem.errors import PlanError
from tandem.plan.capacity.page import page
from tandem.plan.capacity.report import as_dict, as_text
from tandem.plan.capacity.search import search
from tandem.plan.capacity.traffic import Objectives, Traffic, read_objectives, read_traffic
from tandem.plan.cost.serving import Pool, bill, night_saving
from tandem.plan.lengths import Lengths
from tandem.plan.shape import shape_of
from tandem.plan.simulate.arrivals import poisson
from tandem.plan.simulate.run import System, simulate

SHAPE = shape_of("meta-llama/Llama-3.1-70B")
TRAFFIC = Traffic(10, Lengths.lognormal(7, 1, 32, 32_000), 300)
SLO = Objectives(3_000, 50)
TYPES = ("g6e.12xlarge", "g7e.2xlarge", "g7e.12xlarge", "p5.48xlarge", "p5en.48xlarge")


def usd(traffic: Traffic, objectives: Objectives) -> float:
    best = search(SHAPE, traffic, objectives, TYPES).best
    return best.bill.usd_per_hour if best else float("inf")


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 500), st.floats(1, 10))
def test_more_traffic_never_costs_less(rate: float, times: float) -> None:
    less, more = (dataclasses.replace(TRAFFIC, requests_per_second=value) for value in (rate, rate * times))
    assert usd(less, SLO) <= usd(more, SLO)


@settings(max_examples=15, deadline=None)
@given(st.floats(200, 5_000), st.floats(10, 200), st.floats(1, 3), st.floats(1, 3))
def test_a_looser_objective_never_costs_more(ttft: float, tpot: float, more: float, longer: float) -> None:
    assert usd(TRAFFIC, Objectives(ttft * more, tpot * longer)) <= usd(TRAFFIC, Objectives(ttft, tpot))


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 500))
def test_what_is_found_meets_the_objectives_and_has_a_spare_node(rate: float) -> None:
    answer = search(SHAPE, dataclasses.replace(TRAFFIC, requests_per_second=rate), SLO, TYPES)
    for one in (answer.single, answer.split, *answer.runners_up):
        assert one is not None
        assert one.ttft_ms <= SLO.ttft_ms and one.decode.tpot_ms <= SLO.tpot_ms
        for part in (one.prefill, one.decode):
            assert (part.nodes - 1) * part.option.engines_per_node >= part.engines > 0


def test_the_front_gives_up_money_for_time_only() -> None:
    front = search(SHAPE, TRAFFIC, SLO).front
    money = [one.bill.usd_per_hour for one in front]
    times = [one.ttft_ms for one in front]
    assert money == sorted(money) and times == sorted(times, reverse=True)


def test_the_answer_says_not_to_disaggregate_where_one_pool_is_cheaper() -> None:
    answer = search(SHAPE, dataclasses.replace(TRAFFIC, requests_per_second=0.1), Objectives(5_000, 80), TYPES)
    assert answer.verdict.startswith("do not disaggregate")
    assert answer.best is answer.single


def test_a_split_wins_where_prompts_are_long_and_answers_must_not_stutter() -> None:
    long = Traffic(40, Lengths.lognormal(9, 0.8, 128, 64_000), 400)
    answer = search(SHAPE, long, Objectives(10_000, 25), ("p5.48xlarge", "p5en.48xlarge"))
    assert answer.best is not None and answer.best.apart, answer.verdict


def test_an_objective_that_nothing_meets_is_named_with_how_far_it_is_missed() -> None:
    answer = search(SHAPE, TRAFFIC, Objectives(1, 0.1))
    assert answer.best is None
    assert any("TTFT of 1 ms is" in said for said in answer.shortfalls)
    assert any("TPOT of 0.1 ms is" in said for said in answer.shortfalls)


def test_the_guide_s_32k_prompts_at_500_ms_are_not_reachable_on_one_site() -> None:
    asked = Traffic(1_200, Lengths.fixed(32_768), 256)
    answer = search(SHAPE, asked, Objectives(500, 50))
    assert answer.best is None
    assert "nothing here meets the objectives: TTFT of 500 ms" in answer.verdict


def test_a_model_too_large_for_every_allowed_type_is_refused_with_the_way_out() -> None:
    answer = search(shape_of("deepseek-ai/DeepSeek-V3"), TRAFFIC, SLO, ("g6e.xlarge",))
    assert answer.shortfalls == (
        "no allowed instance type holds the model on one node: allow larger ones, or a smaller format",
    )


def test_money_adds_up_by_part_and_tokens_by_rate() -> None:
    best = search(SHAPE, TRAFFIC, SLO, TYPES).best
    assert best is not None
    assert best.bill.usd_per_hour == pytest.approx(sum(part.usd_per_hour for part in best.bill.parts))
    assert best.usd_per_million_output == pytest.approx(best.bill.usd_per_hour / (10 * 300 * 3600) * 1e6)


def test_idle_reserved_nodes_are_paid_and_named() -> None:
    pool = Pool("decode", "p5en.48xlarge", 3, "reserved", "cr-1", 5, 41.61)
    parts = {part.name: part.usd_per_hour for part in bill([pool]).parts}
    assert parts["idle in cr-1"] == pytest.approx(2 * 41.61)
    assert night_saving(pool) == 0


def test_half_of_prefill_at_night_saves_half_of_ten_hours_a_day() -> None:
    pool = Pool("prefill", "p5.48xlarge", 4)
    assert night_saving(pool) == pytest.approx(2 * 55.04 * 10 / 24 * 730)


def test_cross_region_bytes_are_a_part_of_the_bill() -> None:
    found = bill([Pool("prefill", "p5.48xlarge", 1)], crossing_gbps=12.4, usd_per_gb=0.02)
    assert found.parts[-1].usd_per_hour == pytest.approx(5_580 * 0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"requests_per_second": 0}, "requests_per_second: 0 - must be a number above zero"),
        ({"requests_per_second": -1}, "requests_per_second: -1"),
        ({"output_tokens": float("nan")}, "output_tokens: nan"),
        ({"input_tokens": {"mu": 7, "sigma": 1, "low": 9, "high": 3}}, "low must be below high"),
        ({"prefix_share": 1}, "prefix_share: 1 - is a share"),
        ({"rate": 3}, "rate: 3 - not a field"),
    ],
)
def test_wrong_traffic_is_named_with_its_field(change: dict[str, object], message: str) -> None:
    good = {"requests_per_second": 1, "input_tokens": 1000, "output_tokens": 100}
    with pytest.raises(PlanError, match=message):
        read_traffic({**good, **change}, "traffic.yaml")


def test_all_faults_of_traffic_come_at_once() -> None:
    with pytest.raises(PlanError) as caught:
        read_traffic({}, "traffic.yaml")
    assert str(caught.value).count("missing") == 3


@pytest.mark.parametrize("text", ["ttft=0,tpot=5", "ttft=5", "ttft=5,tpot=x", "ttft=5,tpot=5,p=2", "a=1,ttft=5,tpot=5"])
def test_wrong_objectives_are_refused(text: str) -> None:
    with pytest.raises(PlanError, match="--slo"):
        read_objectives(text)


def test_the_report_names_units_what_binds_and_what_to_try() -> None:
    answer = search(SHAPE, TRAFFIC, SLO, TYPES)
    text = as_text(answer, TRAFFIC, SLO)
    assert all(word in text for word in ("ms", "$/h", "what binds", "try", "Error bars"))
    assert as_dict(answer)["verdict"] in text


def test_the_page_needs_nothing_from_elsewhere_and_escapes_the_model_s_name() -> None:
    text = page("<b>x</b>", search(SHAPE, TRAFFIC, SLO, TYPES), TRAFFIC, SLO)
    assert "<b>x</b>" not in text and "&lt;b&gt;x" in text
    assert re.search(r"<(script|link|img)[^>]+(src|href)=", text) is None
    assert text.count('class="plotly-graph-div"') == 2


def test_a_page_without_an_answer_still_says_why() -> None:
    slo = Objectives(1, 0.1)
    text = page("x", search(SHAPE, TRAFFIC, slo, TYPES), TRAFFIC, slo)
    assert "nothing here meets the objectives" in text and "plotly-graph-div" not in text


def test_only_the_allowed_weight_formats_are_used_and_an_unproved_one_is_named() -> None:
    answer = search(SHAPE, TRAFFIC, SLO, None, ("bf16", "fp8"))
    assert answer.best is not None and answer.best.prefill.option.engine.weights.name in ("bf16", "fp8")
    blackwell = search(SHAPE, TRAFFIC, SLO, ("g7e.2xlarge", "g7e.12xlarge"), ("fp4",))
    assert "Not proved: no source names g7e" in as_text(blackwell, TRAFFIC, SLO)


@pytest.mark.parametrize("model", ["meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B"])
def test_a_planned_split_meets_its_objectives_in_the_simulator(model: str) -> None:
    split = search(shape_of(model), TRAFFIC, SLO).split
    assert split is not None
    first, second = split.prefill, split.decode
    link = first.option.kv_gbps * first.engines
    system = System(first.option.engine, first.engines, second.option.engine, second.engines, link)
    found = simulate(system, poisson(TRAFFIC, 4_000, 5))
    assert found.attainment(SLO.ttft_ms / 1e3, SLO.tpot_ms / 1e3) >= SLO.percentile - 0.02
