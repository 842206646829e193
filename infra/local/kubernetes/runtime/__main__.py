"""`python -m local.kubernetes.runtime`: the container runtime of one simulated node, on a unix socket.

SIGTERM ends it and leaves its pods running; the next one takes them over. `--purge` ends and removes all pods of the
node instead.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import grpc
from tandem.errors import TandemError

from local.kubernetes.cri import runtime_pb2_grpc as cri_grpc
from local.kubernetes.images import Images
from local.kubernetes.runtime import limits
from local.kubernetes.runtime.image_service import ImageService
from local.kubernetes.runtime.network import Bridge
from local.kubernetes.runtime.pods import Pods
from local.kubernetes.runtime.service import RuntimeService
from local.kubernetes.runtime.streaming import Streaming

log = logging.getLogger("runtime")


class StateInUse(TandemError):
    """Another runtime works with the same state."""


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line. Ends the process with code 2 and a message if it is wrong."""
    parser = argparse.ArgumentParser(prog="python -m local.kubernetes.runtime", description=__doc__)
    parser.add_argument("--node", required=True, help="the node's name")
    parser.add_argument("--state", required=True, type=Path, help="folder for the state; survives the runtime")
    parser.add_argument("--socket", required=True, type=Path, help="unix socket to serve the CRI on")
    parser.add_argument("--subnet", required=True, type=IPv4Network, help="where pod addresses come from")
    parser.add_argument("--bridge", required=True, help="name of the bridge that pods are connected to")
    parser.add_argument(
        "--gateway", required=True, type=IPv4Address, help="the bridge's address, the pods' default route"
    )
    parser.add_argument("--images", required=True, type=Path, help="folder with the image definitions")
    parser.add_argument("--image-as", action="append", default=[], help="NAME=IMAGE: the image that plays NAME")
    parser.add_argument("--purge", action="store_true", help="end and remove every pod of the node, then exit")
    return parser.parse_args(arguments)


async def serve(given: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT. Raises TandemError or OSError if it cannot."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    state = given.state.absolute()
    with _only_one(state / "runtime.lock"):
        played_by = dict(pair.split("=", 1) for pair in given.image_as)
        images = Images(given.images.absolute(), played_by=played_by)
        pods = Pods(
            node=given.node, state=state, subnet=given.subnet, bridge=Bridge(given.bridge, given.gateway), images=images
        )
        await pods.begin()
        if given.purge:
            await pods.purge()
            return
        streaming = Streaming(pods)
        await streaming.begin()
        options = [(f"grpc.max_{way}_message_length", limits.MESSAGE_BYTES_MAX) for way in ("send", "receive")]
        server = grpc.aio.server(options=options)
        cri_grpc.add_RuntimeServiceServicer_to_server(RuntimeService(pods, streaming), server)
        cri_grpc.add_ImageServiceServicer_to_server(ImageService(images), server)
        given.socket.parent.mkdir(parents=True, exist_ok=True)
        given.socket.unlink(missing_ok=True)
        server.add_insecure_port(f"unix:{given.socket}")
        await server.start()
        log.info(
            "node %s serves the CRI on %s; %d containers taken over",
            given.node,
            given.socket,
            len(pods.containers.all()),
        )
        await stop.wait()
        await server.stop(grace=1)
        await streaming.end()
        await pods.leave()


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StateInUse(
                f"{path.parent}: another runtime uses this state - two would undo each other's work. Stop it first."
            ) from error
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    given = parse(arguments)
    try:
        asyncio.run(serve(given))
    except TandemError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
