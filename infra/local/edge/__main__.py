"""`python -m local.edge`: the simulated load balancer of the local cloud."""

from __future__ import annotations

import argparse
import asyncio
import signal
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web

from local.edge.addresses import BridgeAddresses
from local.edge.binding import BindingController
from local.edge.certificates import EdgeAuthority
from local.edge.edge import Edge
from local.edge.source import Source


def main() -> None:
    """Runs until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="local.edge", description=__doc__)
    parser.add_argument("--aws", required=True, help="URL of moto")
    parser.add_argument("--region", default="us-east-1", help="whose load balancers are played")
    parser.add_argument("--kubeconfig", required=True, type=Path)
    parser.add_argument("--pki", required=True, type=Path, help="folder with edge-ca.crt and edge-ca.key")
    parser.add_argument("--control", required=True, help="HOST:PORT of the control endpoint")
    parser.add_argument("--bridge", default="tandem0", help="gets the load balancers' addresses")
    asyncio.run(_serve(parser.parse_args()))


async def _serve(options: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    source = Source(options.aws, options.region)
    BindingController(options.kubeconfig, source.elbv2, say).start()
    async with Edge(source, BridgeAddresses(options.bridge), EdgeAuthority(options.pki), say) as edge:
        runner = web.AppRunner(edge.control(), access_log=None)
        await runner.setup()
        host, _, port = options.control.rpartition(":")
        await web.TCPSite(runner, host, int(port), reuse_address=True).start()
        await stop.wait()
        await runner.cleanup()


def say(text: str) -> None:
    """One line of the log."""
    print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}", flush=True)


if __name__ == "__main__":
    main()
