"""Tells everyone who listens what happens to containers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

_QUEUE_MAX = 10_000
"""Events kept for a listener; one that is further behind has its stream ended, and asks for the whole state when it
comes back."""


class Events:
    """Fans events out to listeners."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Any]] = set()

    def tell(self, event: Any) -> None:
        for queue in list(self._listeners):
            try:
                queue.put_nowait(event)
            except asyncio.QueueFull:
                self._listeners.discard(queue)

    async def listen(self) -> AsyncIterator[Any]:
        """Every event from here on."""
        queue: asyncio.Queue[Any] = asyncio.Queue(_QUEUE_MAX)
        self._listeners.add(queue)
        try:
            while queue in self._listeners or not queue.empty():
                yield await queue.get()
        finally:
            self._listeners.discard(queue)
