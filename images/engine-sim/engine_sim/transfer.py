"""The real Mooncake transfer engine over TCP, with the calls that SGLang makes."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from engine_sim import content
from engine_sim.faults import Faults
from engine_sim.memory import Region

STAGING_BYTES = 4 << 20
"""Bytes that one transfer call pushes; large enough that a call's fixed cost vanishes, small enough for memory."""
SENDERS = 2
"""Transfers at a time; more only share the same link."""


class TransferUnavailable(Exception):
    """Mooncake cannot be loaded or started. The message is for a person."""


class TransferFailed(Exception):
    """Bytes did not arrive."""


@dataclass(frozen=True)
class Pushed:
    """What one rank sent."""

    bytes: int
    checksum: int
    seconds: float


def _load() -> Any:
    os.environ.setdefault("GLOG_minloglevel", "2")  # its own progress lines would drown ours
    os.environ.setdefault("MC_FORCE_TCP", "1")
    try:
        from mooncake.engine import TransferEngine
    except ImportError as error:
        raise TransferUnavailable(
            f"mooncake: {error} - the KV transfer needs it. Install requirements.txt, "
            "and Debian's libibverbs1 librdmacm1 libnuma1 (needed even for TCP)."
        ) from error
    return TransferEngine()


class Transfer:
    """One engine's end of the KV transfer."""

    def __init__(self, host: str, faults: Faults) -> None:
        self._faults = faults
        self._engine = _load()
        if self._engine.initialize(host, "P2PHANDSHAKE", "tcp", "") != 0:
            raise TransferUnavailable(
                f"mooncake: cannot listen on {host} - its ports (15000-17000) or the address are not free."
            )
        self.session = f"{host}:{self._engine.get_rpc_port()}"
        """What a peer names this end by."""
        self._executor = ThreadPoolExecutor(SENDERS, thread_name_prefix="kv-transfer")
        self._staging = threading.local()

    def register(self, region: Region) -> None:
        """Lets peers write into a region. Raises `TransferFailed`."""
        if self._engine.register_memory(region.address, region.length) != 0:
            raise TransferFailed(f"mooncake refused to register {region.length} bytes")

    async def push(self, session: str, address: int, chain: Sequence[bytes], block: int) -> Pushed:
        """Writes the KV of a prompt, `block` bytes a token, to an address in a peer. Raises `TransferFailed`."""
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, self._push, session, address, chain, block
        )

    def _push(self, session: str, address: int, chain: Sequence[bytes], block: int) -> Pushed:
        staging: Region | None = getattr(self._staging, "region", None)
        if staging is None or staging.length < block:
            staging = Region(max(STAGING_BYTES, block))
            self.register(staging)
            self._staging.region = staging
        started, sent, digest = time.monotonic(), 0, 1
        for data in content.chunks(chain, block, staging.length):
            digest = content.checksum(data, digest)
            if sent == 0 and self._faults.active("corrupt") is not None:
                data = bytes([data[0] ^ 0xFF]) + data[1:]
            if self._faults.active("drop_link") is not None:
                raise TransferFailed("the link is down (simulated fault drop_link)")
            staging.write(data)
            if self._engine.transfer_sync_write(session, staging.address, address + sent, len(data)) != 0:
                raise TransferFailed(
                    f"mooncake could not write to {session}: the peer is gone, or does not know the address"
                )
            sent += len(data)
            self._pace(started, sent)
        return Pushed(sent, digest, time.monotonic() - started)

    def _pace(self, started: float, sent: int) -> None:
        """Holds a simulated slow link to its speed; looks again every tenth of a second, so that clearing it acts at once."""
        while (slow := self._faults.active("slow_link")) is not None:
            wait = started + sent / float(slow["bytes_per_second"]) - time.monotonic()
            if wait <= 0:
                return
            time.sleep(min(wait, 0.1))

    def close(self) -> None:
        """Ends the sender threads after what they are at. Mooncake itself ends with the process."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        print("kv transfer closed", file=sys.stderr)
