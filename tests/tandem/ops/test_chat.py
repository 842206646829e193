"""A stream counts only when it came whole: HTTP errors, error frames and cut streams are failures."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tandem.errors import CloudUnavailable
from tandem.ops import chat

from tests.certificates import self_signed


@contextmanager
def edge(folder: Path, frames: list[str], status: int = 200) -> Iterator[tuple[chat.Address, list[dict[str, object]]]]:
    """A TLS server on loopback that answers every POST with the frames."""
    certificate, key = self_signed(folder)
    seen: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append({"authorization": self.headers["Authorization"], **body})
            self.send_response(status)
            self.end_headers()
            for frame in frames:
                self.wfile.write(frame.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield chat.Address("127.0.0.1", server.server_address[1], certificate), seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def frame(text: str | None, **more: object) -> str:
    delta = {} if text is None else {"content": text}
    return f"data: {json.dumps({'choices': [{'delta': delta, **more}], 'system_fingerprint': 'simulated'})}\n\n"


USAGE = f"data: {json.dumps({'choices': [], 'usage': {'prompt_tokens': 7, 'completion_tokens': 2}})}\n\n"
DONE = "data: [DONE]\n\n"


def test_a_whole_stream_gives_its_text_usage_and_times(tmp_path: Path) -> None:
    frames = [": keep-alive\n\n", frame("Hel"), frame("lo"), frame(None, finish_reason="stop"), USAGE, DONE]
    with edge(tmp_path, frames) as (address, seen):
        answer = chat.stream(address, "key", "model", "hi")
    assert answer.text == "Hello"
    assert (answer.prompt_tokens, answer.completion_tokens) == (7, 2)
    assert answer.finish_reason == "stop"
    assert answer.system_fingerprint == "simulated"
    assert answer.ttft_seconds > 0
    assert seen[0]["authorization"] == "Bearer key"
    assert seen[0]["stream"] is True


def test_a_stream_without_done_is_a_failure(tmp_path: Path) -> None:
    with edge(tmp_path, [frame("Hel")]) as (address, _), pytest.raises(CloudUnavailable, match="without \\[DONE\\]"):
        chat.stream(address, "key", "model", "hi")


def test_an_error_frame_inside_a_200_stream_is_a_failure(tmp_path: Path) -> None:
    broken = f"data: {json.dumps({'error': {'type': 'stream_error'}})}\n\n"
    with (
        edge(tmp_path, [frame("Hel"), broken, DONE]) as (address, _),
        pytest.raises(CloudUnavailable, match="stream_error"),
    ):
        chat.stream(address, "key", "model", "hi")


def test_an_http_error_names_the_status(tmp_path: Path) -> None:
    with (
        edge(tmp_path, ["no key"], status=401) as (address, _),
        pytest.raises(CloudUnavailable, match="HTTP 401 no key"),
    ):
        chat.stream(address, "key", "model", "hi")


def test_a_certificate_of_another_authority_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other, _ = self_signed(tmp_path / "other")
    with edge(tmp_path, [DONE]) as (address, _), pytest.raises(CloudUnavailable, match="certificate"):
        chat.stream(chat.Address(address.host, address.port, other), "key", "model", "hi")


def test_a_port_where_nobody_listens_is_one_clear_failure() -> None:
    with pytest.raises(CloudUnavailable, match="refused"):
        chat.stream(chat.Address("127.0.0.1", 1), "key", "model", "hi")
