"""The WSGI application: one request at a time, changes journaled before they are executed.

Everything runs under one lock. moto's state is shared and unguarded, and a read that ran inside a change would draw
from the seeded random source and so alter the identifiers of that change.
"""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from local.aws.server.journal import Journal
from local.aws.server.recorded import PREFIX, RecordedStore
from local.aws.server.requests import may_change_state, recordable
from local.aws.server.world import World

HEALTH = "/_tandem/health"


class LocalAws:
    """moto, the recorded store and the journal behind one WSGI callable."""

    def __init__(self, world: World, journal: Journal, recorded: RecordedStore) -> None:
        self._world = world
        self._journal = journal
        self._recorded = recorded
        self._lock = threading.Lock()
        self.replayed = 0
        """Number of journaled requests that were executed at start."""

    def replay(self) -> None:
        """Execute the journal. The answers were given in an earlier life and are dropped."""
        for entry in self._journal.entries():
            self._world.set_moment(entry.seed, entry.time)
            try:
                self._execute(entry.environ, entry.body)
            finally:
                self._world.end_moment()
            self.replayed += 1
        self._recorded.write_listing()

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == HEALTH:
            status, headers, body = _json(200, {"ready": True, "replayed": self.replayed})
        else:
            request_body = _body(environ)
            with self._lock:
                status, headers, body = self._serve(recordable(environ), request_body)
        start_response(status, headers)
        return [body]

    def _serve(self, environ: dict[str, Any], body: bytes) -> tuple[str, list[tuple[str, str]], bytes]:
        if not may_change_state(environ, body):
            return self._execute(environ, body)
        entry = self._journal.append(environ, body, time=time.time())
        self._world.set_moment(entry.seed, entry.time)
        try:
            return self._execute(environ, body)
        finally:
            self._world.end_moment()
            if environ["PATH_INFO"].startswith(PREFIX):
                self._recorded.write_listing()

    def _execute(self, environ: dict[str, Any], body: bytes) -> tuple[str, list[tuple[str, str]], bytes]:
        if environ["PATH_INFO"].startswith(PREFIX):
            raw_path = str(environ["RAW_URI"]).partition("?")[0]
            return _json(*self._recorded.answer(environ["REQUEST_METHOD"], raw_path, body))
        answer: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            answer["status"], answer["headers"] = status, headers
            return lambda data: None

        parts = self._world.application(_complete(environ, body), start_response)
        try:
            content = b"".join(parts)
        finally:
            close = getattr(parts, "close", None)
            if close is not None:
                close()
        return answer["status"], answer["headers"], content


def _body(environ: dict[str, Any]) -> bytes:
    """The whole body. Without a length only a chunked body has an end; reading anything else would block."""
    if environ.get("CONTENT_LENGTH"):
        return bytes(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
    return bytes(environ["wsgi.input"].read()) if environ.get("wsgi.input_terminated") else b""


def _json(code: int, value: Any) -> tuple[str, list[tuple[str, str]], bytes]:
    content = json.dumps(value).encode()
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    return f"{code} {HTTPStatus(code).phrase}", headers, content


def _complete(environ: dict[str, Any], body: bytes) -> dict[str, Any]:
    """A full WSGI environ from its recorded part. Everything else is constant, so that no outcome depends on it."""
    complete: dict[str, Any] = {
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "4566",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SCRIPT_NAME": "",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        **environ,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.input_terminated": True,
    }
    return complete
