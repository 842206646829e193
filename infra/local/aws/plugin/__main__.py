"""The plugin's process: prints its port, serves until the engine cancels it."""

from __future__ import annotations

import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

WORKERS = 32
"""Calls served at a time; the engine itself sends at most its --parallel (16 by default)."""


def main() -> int:
    if "--version" in sys.argv:
        from local.aws.plugin.servicer import VERSION

        print(VERSION)
        return 0
    import grpc
    from pulumi.runtime.proto import provider_pb2_grpc

    from local.aws.plugin.servicer import Provider

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    server = grpc.server(
        ThreadPoolExecutor(max_workers=WORKERS),
        options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    ended.wait()
    server.stop(grace=1).wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
