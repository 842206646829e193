"""Progress for a person: one line an event, with the seconds since the command began, on stderr."""

from __future__ import annotations

import sys
import threading
import time


class Progress:
    """Lines such as `[  12 s] local-network  14 of 32 resources`. Safe to call from several threads."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._start = time.monotonic()
        self._quiet = quiet
        self._lock = threading.Lock()

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since the command began."""
        return time.monotonic() - self._start

    def say(self, what: str, text: str) -> None:
        """Prints one line, unless quiet."""
        if self._quiet:
            return
        with self._lock:
            print(f"[{self.elapsed_seconds:4.0f} s] {what:<18} {text}", file=sys.stderr, flush=True)
