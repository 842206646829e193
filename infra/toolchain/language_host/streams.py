"""Output of a child process as it comes, both streams in the order of arrival."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Iterator

_CHUNK_BYTES = 1 << 16
"""A pipe's usual capacity: one read empties it."""


def output(child: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield (`stdout` or `stderr`, bytes) until the child has closed both."""
    assert child.stdout is not None
    assert child.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ, "stdout")
        selector.register(child.stderr, selectors.EVENT_READ, "stderr")
        while selector.get_map():
            for key, _ in selector.select():
                chunk = os.read(key.fd, _CHUNK_BYTES)
                if chunk:
                    yield key.data, chunk
                else:
                    selector.unregister(key.fileobj)
