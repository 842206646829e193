"""The HTTP side: threads, and a log of failures only."""

from __future__ import annotations

import sys
from typing import Any

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import make_server


class _Handler(MotoRequestHandler):  # type: ignore[misc]
    protocol_version = "HTTP/1.1"
    """boto3 waits for `100 Continue` before it sends an object; only HTTP/1.1 has it."""

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        if str(code)[:1] == "5":
            print(f"{self.command} {self.path}: {code}", file=sys.stderr, flush=True)


def listen(host: str, port: int, app: Any) -> Any:
    """A threaded server bound to `host:port` (0: a free one). OSError when the address is taken."""
    try:
        server = make_server(host, port, app, threaded=True, request_handler=_Handler)
    except SystemExit as error:  # werkzeug ends the process itself when the port is taken
        raise OSError(f"{host}:{port} - the address is in use or not on this machine. End its owner first") from error
    server.daemon_threads = True
    return server
