"""Pulumi's runtime wants a current event loop; tests of coroutines elsewhere close theirs and leave none."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def event_loop_of_its_own() -> Iterator[None]:
    """A fresh loop for each test, closed behind it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
