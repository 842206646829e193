"""The simulator: nothing is lost, the same seed gives the same result, and it agrees with the closed forms where they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tandem.errors import PlanError
from tandem.facts.accelerators import accelerators
from tandem.plan.capacity.traffic import Traffic
from tandem.plan.lengths import Lengths
from tandem.plan.performance.engine import Engine
from tandem.plan.performance.formats import FORMATS
from tandem.plan.shape import shape_of
from tandem.plan.simulate.arrivals import Arrival, poisson, read_trace
from tandem.plan.simulate.decoder import Decoder, StepTimes
from tandem.plan.simulate.run import Failure, Run, System, simulate
from tandem.plan.vectors import array

ENGINE = Engine(shape_of("meta-llama/Llama-3.1-8B"), accelerators()["H100"], 1, FORMATS["fp8"])
LENGTHS = Lengths.lognormal(7, 1, 32, 16_000)


def system(prefill: int = 2, decode: int = 2, gbps: float = 100.0) -> System:
    return System(ENGINE, prefill, ENGINE, decode, gbps)


def run(seed: int, rate: float, count: int = 400, failures: Sequence[Failure] = (), burst: float = 1.0) -> Run:
    return simulate(system(), poisson(Traffic(rate, LENGTHS, 100), count, seed, burst), failures)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1_000), st.floats(0.5, 200), st.floats(0.5, 5), st.floats(0.1, 20), st.floats(0.1, 30))
def test_every_request_and_token_is_accounted_for(seed: int, rate: float, burst: float, at: float, back: float) -> None:
    arrivals = list(poisson(Traffic(rate, LENGTHS, 100), 300, seed, burst))
    found = simulate(system(), arrivals, [Failure(at, 0, back), Failure(at + 0.5, 1, back)])
    assert found.finished == len(arrivals)
    assert found.tokens == sum(one.output for one in arrivals)
    assert (found.ttft > 0).all() and np.isfinite(found.tpot).all()


def test_the_same_seed_gives_the_same_result_and_another_does_not() -> None:
    assert np.array_equal(run(1, 20).ttft, run(1, 20).ttft)
    assert not np.array_equal(run(1, 20).ttft, run(2, 20).ttft)


def test_an_idle_system_takes_the_closed_form_s_times() -> None:
    arrivals = [Arrival(100.0 * index, 2_000, 200) for index in range(20)]
    found = simulate(system(), arrivals)
    wire = ENGINE.shape.kv_bytes(2_000) * 8 / 100e9
    expected = float(ENGINE.prefill_seconds(array(2_000))[0]) + wire
    assert found.ttft.mean() == pytest.approx(expected, rel=0.01)
    assert found.tpot.mean() == pytest.approx(float(ENGINE.step_seconds(array(1), array(2_100))[0]), rel=0.01)


@pytest.mark.parametrize("busy", [0.3, 0.6, 0.8])
def test_the_prefill_queue_waits_as_pollaczek_and_khinchine_say(busy: float) -> None:
    service = float(ENGINE.prefill_seconds(array(4_000))[0])
    rate = busy / service
    arrivals = poisson(Traffic(rate, Lengths.fixed(4_000), 1.5), 40_000, 7)
    found = simulate(system(prefill=1, decode=4, gbps=1e5), arrivals)
    expected = service + rate * service**2 / (2 * (1 - busy))
    assert found.ttft.mean() == pytest.approx(expected, rel=0.06)


def test_an_overloaded_link_makes_the_first_token_late() -> None:
    arrivals = list(poisson(Traffic(10, Lengths.fixed(8_000), 50), 300, 3))
    fast, slow = (simulate(system(gbps=rate), arrivals).ttft.mean() for rate in (400, 2))
    assert slow > 10 * fast


def test_a_faster_link_is_never_later() -> None:
    arrivals = list(poisson(Traffic(10, LENGTHS, 50), 300, 3))
    times = [simulate(system(gbps=rate), arrivals).ttft.mean() for rate in (5, 10, 50, 100, 400)]
    assert times == sorted(times, reverse=True)


def test_a_failure_sends_requests_back_and_costs_time() -> None:
    calm, broken = run(5, 30), run(5, 30, failures=[Failure(3.0, 0, 20.0)])
    assert broken.failed > 0 == calm.failed
    assert broken.tpot.mean() > calm.tpot.mean()


def test_a_small_pool_retracts_and_still_answers_all() -> None:
    times = StepTimes((0.0, *(0.01 + 0.0001 * n for n in range(1, 257))), 1e-8, 3_000)
    decoder = Decoder(times)
    for request in range(4):
        decoder.waiting.append((request, 700, 400))
    decoder.admit()
    assert len(decoder.running) == 4
    decoder.advance(decoder.next_event() or math.inf)
    back = decoder.retract()
    assert back is not None and back[1] > 0 and decoder.context <= 3_000
    assert len(decoder.running) == 3


def test_steps_in_one_sum_are_the_steps_one_by_one() -> None:
    times = StepTimes((0.0, *(0.01 + 0.001 * n for n in range(1, 65))), 1e-6, 10**9)
    decoder = Decoder(times)
    decoder.waiting += [(0, 1_000, 50), (1, 500, 80)]
    decoder.admit()
    slow, context = 0.0, 1_500
    for _ in range(50):
        slow += times.base[2] + times.slope * context
        context += 2
    decoder.advance(decoder.next_event() or math.inf)
    assert (decoder.clock, decoder.context, decoder.finished()) == (pytest.approx(slow), context, [0])


def test_published_trace_formats_are_read() -> None:
    azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"
    mooncake = "\n".join(
        json.dumps({"timestamp": ms, "input_length": 6_758, "output_length": 500, "hash_ids": [0]}) for ms in (0, 3_000)
    )
    assert [(one.prompt, one.output) for one in read_trace(azure, "a.csv")] == [(374, 44), (396, 109)]
    assert [one.at for one in read_trace(mooncake, "m.jsonl")] == [0, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ('{"timestamp": 0, "input_length": -1, "output_length": 2}', r"t:1: .* none negative"),
        (
            '{"timestamp": 5000, "input_length": 1, "output_length": 2}\n{"timestamp": 1000, "input_length": 1, "output_length": 2}',
            "must be in order of arrival",
        ),
        ('{"timestamp": NaN, "input_length": 1, "output_length": 2}', r"t:1"),
        ("TIMESTAMP,ContextTokens\n2023-11-16 18:15:46,374\n", r"t:2"),
        ("a,b\n1,2\n", r"t:2"),
    ],
)
def test_a_wrong_trace_is_named_by_line(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        read_trace(text, "t")
