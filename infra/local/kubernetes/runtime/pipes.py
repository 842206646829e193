"""asyncio streams on descriptors: pipes and our side of terminals."""

from __future__ import annotations

import asyncio
import os


async def reader_of(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.BaseTransport]:
    """A reader; closing the transport closes the descriptor."""
    reader = asyncio.StreamReader()
    file = os.fdopen(descriptor, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), file
    )
    return reader, transport


async def writer_of(descriptor: int) -> asyncio.StreamWriter:
    """A writer; closing it closes the descriptor."""
    loop = asyncio.get_running_loop()
    file = os.fdopen(descriptor, "wb", buffering=0)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, file)
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def read_until_end(descriptor: int, seconds: float) -> bytes | None:
    """What comes until the other side closes; None if that takes longer. Closes the descriptor."""
    reader, transport = await reader_of(descriptor)
    try:
        async with asyncio.timeout(seconds):
            return await reader.read()
    except TimeoutError:
        return None
    finally:
        transport.close()
