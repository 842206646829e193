"""Gives the regions' networks the addresses and routes that moto's VPCs and route tables ask for.

`python -m local.routes --aws URL REGION...`. A VPC's first address is its router, on the region's bridge. Between regions there is a way
only where a route table leads into an active peering connection, as on AWS; within a VPC everything is reachable.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local import limits
from local.events import moment
from local.regions import Region, in_order


@dataclass(frozen=True)
class Network:
    """What a region's VPCs are made of."""

    region: str
    blocks: frozenset[IPv4Network]
    """CIDRs of its VPCs."""
    peered: frozenset[IPv4Network]
    """Destinations that a route table leads into an active peering connection."""


def vpc_gateway(block: IPv4Network) -> IPv4Address:
    """The router of a VPC: AWS keeps the second address of a block for it."""
    return block[1]


def commands(networks: Iterable[Network], regions: Iterable[Region]) -> list[tuple[str, ...]]:
    """What `ip` has to do so that all of it is there; each can be repeated. Pure."""
    where = {region.name: region for region in regions}
    networks = list(networks)
    done: list[tuple[str, ...]] = []
    for network in networks:
        region = where[network.region]
        inside = ("-n", region.network)
        for block in sorted(network.blocks):
            router = f"{vpc_gateway(block)}/{block.prefixlen}"
            done.append((*inside, "address", "replace", router, "dev", limits.BRIDGE))
            done.append(("route", "replace", str(block), "via", str(region.address)))
        for destination in sorted(network.peered):
            via = next((n.region for n in networks if any(destination.subnet_of(block) for block in n.blocks)), None)
            if via is not None and via != network.region:
                done.append((*inside, "route", "replace", str(destination), "via", str(where[via].address)))
    return done


def undo(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command that takes back what one of `commands` did."""
    return tuple("del" if word == "replace" else word for word in command)


def read_network(client: Any, region: str) -> Network:
    """A region as moto describes it. Raises botocore's errors."""
    vpcs = [vpc for vpc in client.describe_vpcs()["Vpcs"] if not vpc["IsDefault"]]
    blocks = (block["CidrBlock"] for vpc in vpcs for block in vpc["CidrBlockAssociationSet"])
    active = {
        peering["VpcPeeringConnectionId"]
        for peering in client.describe_vpc_peering_connections()["VpcPeeringConnections"]
        if peering["Status"]["Code"] == "active"
    }
    routes = (route for table in client.describe_route_tables()["RouteTables"] for route in table["Routes"])
    peered = (r["DestinationCidrBlock"] for r in routes if r.get("VpcPeeringConnectionId") in active)
    return Network(region, frozenset(map(IPv4Network, blocks)), frozenset(map(IPv4Network, peered)))


class Router:
    """The loop that keeps the networks as moto wants them."""

    def __init__(self, endpoint: str, regions: tuple[Region, ...]) -> None:
        config = Config(retries={"max_attempts": 1}, connect_timeout=2, read_timeout=10)
        session = boto3.session.Session("local", "local")
        self._regions = regions
        self._clients = {
            region.name: session.client("ec2", region_name=region.name, endpoint_url=endpoint, config=config)
            for region in regions
        }
        self._done: tuple[tuple[str, ...], ...] = ()
        self._said = ""
        self.stop = threading.Event()

    def run(self) -> None:
        """Until `stop` is set."""
        while not self.stop.is_set():
            try:
                self._look()
            except (BotoCoreError, ClientError, OSError) as error:
                # moto is away for a moment: what is there stays.
                self._say(f"will be tried again: {error}")
            self.stop.wait(limits.MOTO_POLL_SECONDS)

    def _look(self) -> None:
        networks = [read_network(client, name) for name, client in self._clients.items()]
        wanted = tuple(commands(networks, self._regions))
        if wanted == self._done:
            return
        for command in reversed(self._done):
            if command not in wanted:
                _ip(undo(command))
        # All of them again: without a router's address, its routes went too.
        failed = [said for command in wanted if (said := _ip(command))]
        for said in failed:
            self._say(said)
        if not failed:
            self._done = wanted
            self._say(f"{len(wanted)} addresses and routes")

    def _say(self, text: str) -> None:
        if text != self._said:
            self._said = text
            print(f"{moment()} {text}", flush=True)


def _ip(command: tuple[str, ...]) -> str:
    """What `ip` complains of, nothing if it does not."""
    done = subprocess.run(("ip", *command), capture_output=True, text=True, check=False)
    return f"ip {' '.join(command)}: {done.stderr.strip()}" if done.returncode else ""


def main() -> int:
    """Runs until SIGTERM."""
    parser = argparse.ArgumentParser(prog="local.routes", description=__doc__)
    parser.add_argument("--aws", required=True, help="URL of moto")
    parser.add_argument("regions", nargs="+", help="in the order of the settings")
    options = parser.parse_args()
    router = Router(options.aws, in_order(options.regions))
    signal.signal(signal.SIGTERM, lambda *_: router.stop.set())
    router.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
