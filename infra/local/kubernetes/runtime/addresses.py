"""Pod addresses of one node: which are taken, and which comes next."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from ipaddress import IPv4Address, IPv4Network

import grpc

from local.kubernetes.runtime.faults import RuntimeFault


def next_address(
    subnet: IPv4Network,
    taken: Collection[IPv4Address],
    last: IPv4Address | None,
    reserved: Collection[IPv4Address] = (),
) -> IPv4Address:
    """The first free address of `subnet` after `last`, starting over at its end.

    Going round keeps an address that was just given up unused for as long as possible: others may still send to its
    last owner. Raises RuntimeFault if none is free.
    """
    unusable = {subnet.network_address, subnet.broadcast_address, *taken, *reserved}
    for address in _from(subnet, last):
        if address not in unusable:
            return address
    raise RuntimeFault(
        f"pod subnet {subnet}: all {subnet.num_addresses} addresses are taken - each pod needs one. "
        "Remove pods from this node, or give it a larger subnet.",
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )


def _from(subnet: IPv4Network, last: IPv4Address | None) -> Iterator[IPv4Address]:
    size = subnet.num_addresses
    first = 0 if last is None or last not in subnet else int(last) - int(subnet.network_address) + 1
    for offset in range(size):
        yield subnet.network_address + (first + offset) % size


def hardware_address(address: IPv4Address) -> str:
    """The MAC of the pod with `address`: always the same one, so that what others remember of the address stays
    right."""
    return "02:00:" + ":".join(f"{byte:02x}" for byte in address.packed)
