"""Asks a process whether it does its work yet."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from local import limits
from local.processes import Ready


async def is_ready(ready: Ready, started_at: float) -> bool:
    """Whether the check holds at this moment, asked once. `started_at` is the process's start in seconds since the epoch."""
    try:
        async with asyncio.timeout(limits.PROBE_SECONDS):
            if ready.kind == "tcp":
                return await _accepts(ready.target)
            if ready.kind == "http":
                return await _answers(ready.target, ready.ca)
            if ready.kind == "file":
                return _exists(Path(ready.target), started_at)
            return ready.kind == "started"
    except (OSError, TimeoutError, ValueError, IndexError):
        return False


async def _accepts(target: str) -> bool:
    host, _, port = target.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.close()
    return True


async def _answers(url: str, ca: str) -> bool:
    parts = urlsplit(url)
    context = ssl.create_default_context(cafile=ca) if parts.scheme == "https" else None
    port = parts.port or (443 if context else 80)
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=context)
    try:
        path = parts.path or "/"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
        status = await reader.readline()
        return int(status.split()[1]) < 400
    finally:
        writer.close()


def _exists(path: Path, started_at: float) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    # A socket file outlives a killed listener; only one made since this start means that it listens.
    return not path.is_socket() or found.st_mtime >= started_at - 0.01
