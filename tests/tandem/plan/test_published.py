"""Published results that the planner must reproduce (facts: planner section 6). A miss is a test of its own that says by how much."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tandem.facts.accelerators import Accelerator, accelerators
from tandem.plan.capacity.traffic import Traffic
from tandem.plan.lengths import Lengths
from tandem.plan.performance.engine import Engine
from tandem.plan.performance.formats import FORMATS
from tandem.plan.shape import shape_of
from tandem.plan.simulate.arrivals import poisson
from tandem.plan.simulate.run import System, simulate
from tandem.plan.vectors import array

GPUS = accelerators()
DEEPSEEK = shape_of("deepseek-ai/DeepSeek-V3")


@pytest.mark.parametrize(("prompt", "published"), [(1_024, 57_674), (2_048, 54_543), (4_096, 50_302)])
def test_sglang_s_96_h100_prefill_as_many_tokens_a_node_as_published(prompt: int, published: int) -> None:
    engine = Engine(DEEPSEEK, GPUS["H100"], 32, FORMATS["fp8"], data_parallel_attention=True)
    assert engine.prefill_tokens_per_second(prompt, 32 * 8_192) / 4 == pytest.approx(published, rel=0.20)


def test_sglang_s_96_h100_decode_as_many_tokens_a_node_as_published() -> None:
    engine = Engine(DEEPSEEK, GPUS["H100"], 72, FORMATS["fp8"], data_parallel_attention=True)
    batch = 72 * 256.0
    step = engine.step_seconds(array(batch), array(2_000))[0]
    assert batch / step / 9 == pytest.approx(22_282, rel=0.20)


A6000 = Accelerator("RTX A6000", 86, 48.0, 768, 154.8, None, 309.7, 0, "vendor sheet; not on AWS")
HACK = Engine(shape_of("Qwen/Qwen3-8B"), A6000, 1, FORMATS["bf16"])
LINK_SHARE = 0.75
"""Of the line rate, as that run reached (facts: planner 5.4)."""


def test_hack_s_ten_gigabit_run_takes_the_published_time() -> None:
    prompt, output = 14_000, 384
    kv = HACK.shape.kv_bytes(prompt)
    transfer = kv * 8 / (10e9 * LINK_SHARE)
    prefill = float(HACK.prefill_seconds(array(prompt))[0])
    step = float(HACK.step_seconds(array(1), array(prompt + output / 2))[0])
    assert transfer == pytest.approx(2.17, rel=0.15)
    assert prefill + transfer == pytest.approx(5.54, rel=0.15)
    assert step * 1e3 == pytest.approx(31.1, rel=0.15)
    assert prefill + transfer + output * step == pytest.approx(17.1, rel=0.15)
    assert transfer * 0.192 == pytest.approx(0.40, rel=0.15), "2-bit KV is 17.5 to 20.9 % of BF16's bytes"


def _qwen(gpus: int) -> Engine:
    return Engine(shape_of("Qwen/Qwen3-32B"), GPUS["H200"], gpus, FORMATS["fp8"], "fp8")


def _apart(batch: int) -> float:
    """Tokens a second and GPU of the published plan: two prefill engines of two GPUs, one decode engine of four."""
    decode = batch / float(_qwen(4).step_seconds(array(batch), array(4_250))[0]) / 500
    return min(2 / float(_qwen(2).prefill_seconds(array(3_500))[0]), decode) * 500 / 8


def _together() -> float:
    """The best of one pool: TTFT <= 300 ms, TPOT <= 10 ms."""
    best = 0.0
    for gpus in (1, 2, 4, 8):
        prefill = float(_qwen(gpus).prefill_seconds(array(3_500))[0])
        for batch in range(1, 257):
            tpot = float(_qwen(gpus).step_seconds(array(batch), array(4_250))[0]) + (batch - 1) * prefill / 500
            if tpot <= 0.010 and prefill <= 0.300:
                best = max(best, batch * 500 / (prefill + 500 * tpot) / gpus)
    return best


def test_aiconfigurator_s_example_gains_as_much_by_a_split() -> None:
    assert _apart(68) / _together() == pytest.approx(684.8 / 410.2, rel=0.15)


def test_known_limit_aiconfigurator_s_absolute_rates_are_lower_than_ours() -> None:
    assert 1.0 < _apart(68) / 684.8 < 1.4
    assert 1.0 < _together() / 410.2 < 1.4


PROMPT_MS = {512: 53, 1_024: 78, 2_048: 137, 4_096: 390}
"""Splitwise's published profile: Llama-2-70B FP16, H100 TP8, one prompt."""
TOKEN_MS_64 = 50.2


def _machines(prompt: float, output: float) -> float:
    """Prompt machines for one token machine."""
    points = sorted(PROMPT_MS.items())
    before, after = next(pair for pair in pairwise(points) if prompt <= pair[1][0])
    first = before[1] + (after[1] - before[1]) * (prompt - before[0]) / (after[0] - before[0])
    return first / (output * TOKEN_MS_64 / 64)


def test_splitwise_s_code_traffic_wants_more_prompt_than_token_machines_and_chat_fewer_than_code() -> None:
    code, chat = _machines(2_048, 27.9), _machines(1_155, 211)
    assert code > 1 and code > chat


def test_known_limit_splitwise_s_ratio_for_code_is_eleven_percent_off() -> None:
    assert _machines(2_048, 27.9) == pytest.approx(35 / 5, rel=0.12)
    assert _machines(2_048, 27.9) != pytest.approx(35 / 5, rel=0.10)


def test_mooncake_s_knee_the_first_token_is_sharply_later_below_the_rate_that_kv_needs() -> None:
    engine = Engine(shape_of("meta-llama/Llama-2-70b"), GPUS["A100-80"], 8, FORMATS["bf16"])
    rate = 0.6 / float(engine.prefill_seconds(array(8_192))[0])
    arrivals = list(poisson(Traffic(rate, Lengths.fixed(8_192), 50), 400, 11))
    times = {
        gbps: simulate(System(engine, 1, engine, 2, gbps), arrivals).ttft.mean() for gbps in (10, 25, 50, 100, 200, 400)
    }
    assert times[100] < 2
    assert times[100] / times[400] < 1.5, "above the knee more bandwidth is worth little"
    assert times[10] / times[100] > 5, "below it the queue on the link grows without end"
