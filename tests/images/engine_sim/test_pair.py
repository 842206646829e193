"""Prefill and decode really meet: what decode writes comes from bytes that prefill moved, and a wrong pair is refused."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable

import pytest

from tests.images.engine_sim.conftest import ADMIN, Pair, Sim

Start = Callable[..., Sim]


def text(answer: tuple[int, str]) -> str:
    assert answer[0] == 200, answer
    return str(json.loads(answer[1])["choices"][0]["message"]["content"])


def moved_bytes(prefill: Sim) -> int:
    found = re.search(r"^sglang:kv_transfer_total_mb_sum\{[^}]*\} (\S+)", prefill.ask("/metrics", key=None)[1], re.M)
    assert found is not None
    return round(float(found[1]) * 1e6)


def test_the_answer_is_made_of_the_kv_that_travelled(sim: Start) -> None:
    pair = Pair(sim("prefill"), sim("decode"))
    first = text(pair.chat("hello")[1])
    assert first, "there is an answer"
    assert text(pair.chat("hello")[1]) == first, "the same KV gives the same answer"
    assert text(pair.chat("goodbye")[1]) != first, "other KV gives another"
    other = Pair(sim("prefill", TANDEM_SIM_KV_SALT="another model"), pair.decode, room=1000)
    assert text(other.chat("hello")[1]) != first, "decode neither computes the prompt itself nor ignores what came"


def test_the_bytes_moved_are_those_of_the_models_shape(sim: Start) -> None:
    pair = Pair(sim("prefill", TANDEM_SIM_SHAPE="30,3,64"), sim("decode", TANDEM_SIM_SHAPE="30,3,64"))
    answer = json.loads(pair.chat("hello world")[1][1])
    assert moved_bytes(pair.prefill) == answer["usage"]["prompt_tokens"] * 30 * 3 * 64 * 2 * 2


def test_every_answer_says_that_it_is_simulated(sim: Start) -> None:
    pair = Pair(sim("prefill"), sim("decode"))
    assert "simulated" in json.loads(pair.chat("hello")[1][1])["system_fingerprint"]


def test_a_stream_ends_with_usage_and_done(sim: Start) -> None:
    pair = Pair(sim("prefill"), sim("decode"))
    _, (status, body) = pair.chat("hello", stream=True, stream_options={"include_usage": True})
    assert status == 200
    events = [line.removeprefix("data: ") for line in body.splitlines() if line]
    assert events[-1] == "[DONE]"
    assert json.loads(events[-2])["usage"]["completion_tokens"] == 8
    assert json.loads(events[-3])["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize("prompt", ["Hello", "hello", "Count.", "Why?", "Übung", "a b c"])
def test_an_answer_of_any_length_comes_to_its_own_end(sim: Start, prompt: str) -> None:
    pair = Pair(sim("prefill"), sim("decode"))
    _, (status, body) = pair.chat(prompt, max_tokens=4000)
    assert status == 200, body
    assert json.loads(body)["choices"][0]["finish_reason"] == "stop"


def test_a_caller_that_speaks_no_http_1_is_one_line_in_the_log(sim: Start) -> None:
    engine = sim("prefill")
    with socket.create_connection(("127.0.0.1", engine.port)) as caller:
        caller.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        while caller.recv(4096):
            pass  # until it hangs up: then it has written its line
    assert engine.ask("/health")[0] == 200
    text = engine.log.read_text()
    assert "speaks no HTTP/1" in text
    assert "Traceback" not in text


def test_another_page_size_kills_the_decode_as_it_does_the_real_one(sim: Start) -> None:
    pair = Pair(sim("prefill", "--page-size", "16"), sim("decode", "--page-size", "64"))
    with pytest.raises(OSError):
        pair.chat("hello")
    assert pair.decode.process.wait(timeout=20) != 0
    assert "Page size mismatch" in pair.decode.log.read_text()
    assert pair.prefill.process.poll() is None, "the mismatched prefill lives on"


def test_a_prefill_of_another_pair_revision_is_refused_without_harm(sim: Start) -> None:
    prefill, decode = sim("prefill", TANDEM_PAIR_REVISION="one"), sim("decode", TANDEM_PAIR_REVISION="two")
    pair = Pair(prefill, decode)
    body = {
        "prompt": "hello",
        "bootstrap_host": "127.0.0.1",
        "bootstrap_port": prefill.bootstrap,
        "bootstrap_room": 1,
    }
    status, told = pair.decode.ask("/v1/completions", body)
    assert status == 409
    assert "a pair is never mixed" in told
    assert decode.process.poll() is None


def test_a_changed_byte_is_found_by_its_checksum(sim: Start) -> None:
    pair = Pair(sim("prefill"), sim("decode"))
    assert pair.prefill.ask("/tandem_sim/fault", {"kind": "corrupt"}, key=ADMIN)[0] == 200
    _, (status, told) = pair.chat("hello")
    assert (status, "checksum differs" in told) == (500, True)
    assert pair.prefill.ask("/tandem_sim/fault", key=ADMIN, method="DELETE")[0] == 200
    assert text(pair.chat("hello")[1])


def test_a_dead_prefill_fails_the_request_and_not_the_decode(sim: Start) -> None:
    pair = Pair(sim("prefill"), sim("decode"))
    text(pair.chat("hello")[1])
    pair.prefill.process.kill()
    body = {"prompt": "x", "bootstrap_host": "127.0.0.1", "bootstrap_port": 9, "bootstrap_room": 7}
    status, told = pair.decode.ask("/v1/completions", body)
    assert status == 500
    assert "Could not fetch prefill parallel info" in told
    assert pair.decode.process.poll() is None


def test_a_prefill_that_was_restarted_at_the_same_address_serves_again(sim: Start) -> None:
    quick = {"SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL": "2"}
    pair = Pair(sim("prefill"), sim("decode", **quick))
    first = text(pair.chat("hello")[1])
    old = pair.prefill
    old.process.kill()
    old.process.wait()
    ports = ("--port", str(old.port), "--disaggregation-bootstrap-port", str(old.bootstrap))
    # The first request still goes to the old process's side channel; the new prefill must not wait for it for minutes.
    pair.prefill = sim("prefill", *ports, SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT="5")
    pair.prefill.port, pair.prefill.bootstrap = old.port, old.bootstrap
    answers = [pair.chat("hello")[1] for _ in range(2)]
    assert text(answers[-1]) == first, f"the decode learns of the new process by its heartbeat: {answers}"


def test_a_request_that_no_gateway_sent_is_a_400(sim: Start) -> None:
    decode = sim("decode")
    status, told = decode.ask("/v1/completions", {"prompt": "hello"})
    assert (status, "bootstrap room" in told) == (400, True)


def test_keys_guard_what_they_guard_in_the_real_one(sim: Start) -> None:
    engine = sim("null")
    assert engine.ask("/v1/models", key=None)[0] == 401
    assert engine.ask("/v1/models", key="wrong")[0] == 401
    assert engine.ask("/v1/models")[0] == 200
    for path in ("/ready", "/metrics"):
        assert engine.ask(path, key=None)[0] == 200, f"{path} is always open"
    assert engine.ask("/flush_cache", {})[0] == 401, "administration needs the admin key"
    assert engine.ask("/flush_cache", {}, key=ADMIN)[0] == 200


def test_one_engine_alone_answers_too(sim: Start) -> None:
    engine = sim("null")
    status, body = engine.ask("/generate", {"text": "hello", "sampling_params": {"max_new_tokens": 5}})
    assert status == 200
    assert json.loads(body)["meta_info"]["completion_tokens"] == 5
