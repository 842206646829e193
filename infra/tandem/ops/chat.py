"""One streamed chat completion through a site's edge, timed as a client sees it."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tandem.errors import CloudUnavailable


@dataclass(frozen=True)
class Answer:
    """What came back and when. Times are the client's, in seconds."""

    text: str
    ttft_seconds: float
    """From the request's first byte out to the first content token in."""
    tpot_seconds: float
    """Mean time between later content chunks; 0 where only one came."""
    prompt_tokens: int
    completion_tokens: int
    system_fingerprint: str | None
    finish_reason: str | None


@dataclass(frozen=True)
class Address:
    """Where a site's edge answers."""

    host: str
    port: int
    ca_file: Path | None = None
    """The authority that signed the edge's certificate; None means the system's."""

    def __str__(self) -> str:
        return f"https://{self.host}:{self.port}" if self.port != 443 else f"https://{self.host}"


def stream(
    address: Address,
    api_key: str,
    model: str,
    prompt: str,
    *,
    max_tokens: int = 32,
    timeout_seconds: float = 60,
    on_text: Callable[[str], None] = lambda _: None,
) -> Answer:
    """Sends one prompt and reads the stream to its end.

    Raises `CloudUnavailable` on anything but a whole stream: a refused connection, an HTTP error, an error
    frame inside the stream (sent with HTTP 200), or an end without `[DONE]`.
    """
    context = ssl.create_default_context(cafile=str(address.ca_file) if address.ca_file else None)
    connection = http.client.HTTPSConnection(address.host, address.port, timeout=timeout_seconds, context=context)
    body = {
        "model": model,
        "messages": [{"role": "user", "content": prompt}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {api_key}"}
    started = time.monotonic()
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        response = connection.getresponse()
        if response.status != 200:
            shown = " ".join(response.read(400).decode(errors="replace").split())
            raise CloudUnavailable(f"{address}: HTTP {response.status} {shown}")
        return _read(response, address, started, on_text)
    except (OSError, http.client.HTTPException) as error:
        raise CloudUnavailable(f"{address}: {error or type(error).__name__}") from error
    finally:
        connection.close()


def _read(
    response: http.client.HTTPResponse, address: Address, started: float, on_text: Callable[[str], None]
) -> Answer:
    pieces: list[str] = []
    times: list[float] = []
    usage: dict[str, int] = {}
    fingerprint = finish = None
    whole = False
    for data in _events(response):
        if data == "[DONE]":
            whole = True
            break
        frame = json.loads(data)
        if "error" in frame:
            raise CloudUnavailable(f"{address}: the stream broke: {json.dumps(frame['error'])[:300]}")
        usage = frame.get("usage") or usage
        fingerprint = frame.get("system_fingerprint") or fingerprint
        for choice in frame.get("choices", ()):
            finish = choice.get("finish_reason") or finish
            text = choice.get("delta", {}).get("content")
            if text:
                times.append(time.monotonic())
                pieces.append(text)
                on_text(text)
    if not whole or not times:
        raise CloudUnavailable(f"{address}: the stream ended after {len(pieces)} pieces without [DONE]")
    later = len(times) - 1
    return Answer(
        text="".join(pieces),
        ttft_seconds=times[0] - started,
        tpot_seconds=(times[-1] - times[0]) / later if later else 0.0,
        prompt_tokens=usage.get("prompt_tokens", 0),
        completion_tokens=usage.get("completion_tokens", len(pieces)),
        system_fingerprint=fingerprint,
        finish_reason=finish,
    )


def _events(response: http.client.HTTPResponse) -> Iterator[str]:
    """The `data:` payloads of a server-sent event stream; comments (keep-alive) are skipped."""
    while line := response.readline():
        text = line.decode().rstrip("\r\n")
        if text.startswith("data:"):
            yield text.removeprefix("data:").strip()
