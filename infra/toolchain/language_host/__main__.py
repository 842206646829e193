"""Serves the LanguageRuntime protocol to one engine, until the engine stops it or dies."""

from __future__ import annotations

import argparse
import os
import signal
import stat
import sys
import threading
from concurrent import futures
from types import FrameType
from typing import NoReturn

_THREADS = 64
"""Calls served at once. Each running policy pack or plugin holds one for as long as it runs."""
_DRAIN_S = 3.0
"""Time for calls to end after children were stopped; must stay below the 5 s after which the engine kills."""


def main() -> NoReturn:
    """Serve until SIGINT, SIGTERM or the end of the engine; prints the port first, as every plugin does."""
    parser = argparse.ArgumentParser(prog="pulumi-language-python", description=__doc__)
    parser.add_argument("engine", nargs="?", default="", help="address of the engine")
    # The engine passes these to every plugin; the host has no log or trace of its own.
    parser.add_argument("--logtostderr", action="store_true")
    parser.add_argument("-v", type=int)
    parser.add_argument("--tracing")
    chosen, _ = parser.parse_known_args()
    try:
        from toolchain.language_host.children import Children
        from toolchain.language_host.protocol import grpc, language_pb2_grpc
        from toolchain.language_host.servicer import LanguageHost
    except ModuleNotFoundError as error:
        print(
            f"pulumi-language-python: {sys.executable} lacks {error.name} - the language host needs pulumi and grpcio. "
            'Run: eval "$(tandem env ENVIRONMENT)", or set TANDEM_PYTHON to a Python that has them.',
            file=sys.stderr,
        )
        sys.exit(1)

    children = Children()
    ending = threading.Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        ending.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    unlimited = [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.so_reuseport", 0),
    ]
    server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=unlimited)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(chosen.engine, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    if sys.stdin is not None and stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
        threading.Thread(target=_watch_engine, args=(ending,), daemon=True, name="watch-engine").start()
    ending.wait()
    children.stop_all()
    server.stop(grace=_DRAIN_S).wait()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads of calls may still wait for a child that ignores signals; the engine must not.
    os._exit(0)


def _watch_engine(ending: threading.Event) -> None:
    """The engine holds the other end of stdin: it closes when the engine dies, however it dies."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    ending.set()


if __name__ == "__main__":
    main()
