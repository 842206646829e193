"""Asks a process whether it does its work yet."""

from __future__ import annotations

import asyncio
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from local import limits, linux
from local.processes import Ready


async def is_ready(ready: Ready, started_at: float, network: str = "") -> bool:
    """Whether the check holds at this moment, asked once, from within `network` (a file that holds it; empty: our own).

    `started_at` is the process's start in seconds since the epoch.
    """
    try:
        async with asyncio.timeout(limits.PROBE_SECONDS):
            if ready.kind == "tcp":
                return await _accepts(ready.target, network)
            if ready.kind == "http":
                return await _answers(ready.target, ready.ca, network)
            if ready.kind == "file":
                return _exists(Path(ready.target), started_at)
            return ready.kind == "started"
    except (OSError, TimeoutError, ValueError, IndexError):
        return False


async def _accepts(target: str, network: str) -> bool:
    host, _, port = target.rpartition(":")
    (await _connect(host, int(port), network)).close()
    return True


async def _answers(url: str, ca: str, network: str) -> bool:
    parts = urlsplit(url)
    context = ssl.create_default_context(cafile=ca) if parts.scheme == "https" else None
    port = parts.port or (443 if context else 80)
    connection = await _connect(str(parts.hostname), port, network)
    name = parts.hostname if context else None
    reader, writer = await asyncio.open_connection(sock=connection, ssl=context, server_hostname=name)
    try:
        path = parts.path or "/"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
        status = await reader.readline()
        return int(status.split()[1]) < 400
    finally:
        writer.close()


async def _connect(host: str, port: int, network: str) -> socket.socket:
    """A connection that begins in `network`: a socket belongs to the network it was made in, whoever uses it."""
    loop = asyncio.get_running_loop()
    made = await loop.run_in_executor(_resident(network), socket.socket) if network else socket.socket()
    try:
        made.setblocking(False)
        await loop.sock_connect(made, (host, port))
    except BaseException:
        made.close()
        raise
    return made


@cache
def _resident(network: str) -> ThreadPoolExecutor:
    """A thread that lives in the network for as long as this process does."""
    return ThreadPoolExecutor(1, thread_name_prefix=network, initializer=linux.enter_network, initargs=(Path(network),))


def _exists(path: Path, started_at: float) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    # A socket file outlives a killed listener; only one made since this start means that it listens.
    return not path.is_socket() or found.st_mtime >= started_at - 0.01
