"""A container's log in the format of the CRI: `TIME STREAM TAG LINE`, tag F for a whole line and P for a piece of
one."""

# pathlib would cost each container 1 MB and 5 ms.
# ruff: noqa: PTH103, PTH120

from __future__ import annotations

import os
import time

LINE_BYTES_MAX = 16 * 1024
"""A longer line is written in pieces, as other runtimes do: readers of the log rely on bounded lines."""


def timestamp(nanoseconds: int) -> str:
    """RFC 3339 with nanoseconds, UTC."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:09d}Z"


class LogFile:
    """The open log of one container. A failed write loses lines, which are counted, and never stops the container."""

    def __init__(self, path: str) -> None:
        """Open `path`, or drop everything if it is empty. Raises OSError."""
        self._path = path
        self._pending = {"stdout": b"", "stderr": b""}
        self._descriptor: int | None = None
        self.bytes_lost = 0
        if path:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._descriptor = self._open()

    def reopen(self) -> None:
        """Go on in a new file under the same name, after the old one was renamed. Raises OSError, and then the old
        one is kept."""
        if not self._path:
            return
        fresh = self._open()
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = fresh

    def write(self, stream: str, data: bytes) -> None:
        """Take what the container wrote to `stream`."""
        lines = (self._pending[stream] + data).split(b"\n")
        rest = lines.pop()
        entries: list[bytes] = []
        now = timestamp(time.time_ns())
        for line in lines:
            self._add(entries, now, stream, line, b"F")
        while len(rest) > LINE_BYTES_MAX:
            entries.append(self._entry(now, stream, b"P", rest[:LINE_BYTES_MAX]))
            rest = rest[LINE_BYTES_MAX:]
        self._pending[stream] = rest
        self._put(b"".join(entries))

    def finish(self) -> None:
        """Write what came without an end of line."""
        now = timestamp(time.time_ns())
        for stream, rest in self._pending.items():
            if rest:
                self._put(self._entry(now, stream, b"F", rest))
                self._pending[stream] = b""

    def _add(self, entries: list[bytes], now: str, stream: str, line: bytes, last_tag: bytes) -> None:
        while len(line) > LINE_BYTES_MAX:
            entries.append(self._entry(now, stream, b"P", line[:LINE_BYTES_MAX]))
            line = line[LINE_BYTES_MAX:]
        entries.append(self._entry(now, stream, last_tag, line))

    def _entry(self, now: str, stream: str, tag: bytes, text: bytes) -> bytes:
        return b"%s %s %s %s\n" % (now.encode(), stream.encode(), tag, text)

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o640)

    def _put(self, data: bytes) -> None:
        if self._descriptor is None or not data:
            return
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except OSError:
            # A full disk. The container's pipes must go on being emptied, else the container stops.
            self.bytes_lost += len(data)
