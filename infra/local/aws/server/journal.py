"""The journal of changes: one JSON line for each request that may change the state of the local AWS.

Difficulty: the process may be killed at any byte. A line is written with one `write` before its request is executed, so
a change that a client was told of is always in the journal. A torn last line belongs to a request nobody got an answer
for, and is dropped.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FORMAT = 1
"""Version of the line format. A journal of another version is refused, not guessed at."""


class JournalError(Exception):
    """The journal cannot be read. The message names file, line and the way on."""


@dataclass(frozen=True)
class Entry:
    """One request that may have changed the state, with everything its outcome depends on."""

    seed: int
    """Seed of moto's random source for this request: identifiers come from it."""
    time: float
    """Seconds since the epoch at which the request was executed."""
    environ: dict[str, Any]
    """The WSGI keys that the outcome depends on (method, path, query, headers)."""
    body: bytes

    def line(self) -> bytes:
        record = {"seed": self.seed, "time": self.time, "environ": self.environ}
        if self.body:
            record["body"] = base64.b64encode(self.body).decode("ascii")
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


class Journal:
    """Append-only file of entries in `folder`. One process at a time may hold it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / "journal.jsonl"
        # Requests carry secret values, so nobody else may read the file.
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._drop_torn_line()
        if os.fstat(self._file).st_size == 0:
            os.write(self._file, json.dumps({"format": FORMAT}).encode() + b"\n")

    def append(self, environ: dict[str, Any], body: bytes, *, time: float) -> Entry:
        """Record a request that is about to be executed. When this returns it survives the death of the process."""
        entry = Entry(seed=secrets.randbits(63), time=time, environ=environ, body=body)
        line = entry.line()
        written = os.write(self._file, line)
        while written < len(line):
            written += os.write(self._file, line[written:])
        return entry

    def entries(self) -> Iterator[Entry]:
        """Every recorded entry, oldest first."""
        with self.path.open("rb") as file:
            header = json.loads(next(file))
            if header.get("format") != FORMAT:
                raise JournalError(
                    f"{self.path}: format {header.get('format')!r} - this version reads format {FORMAT}. "
                    "Remove the folder to start with an empty local cloud."
                )
            for number, line in enumerate(file, start=2):
                try:
                    record = json.loads(line)
                    body = base64.b64decode(record.get("body", ""))
                    yield Entry(seed=record["seed"], time=record["time"], environ=record["environ"], body=body)
                except (ValueError, KeyError, TypeError) as error:
                    raise JournalError(
                        f"{self.path}:{number}: unreadable entry - every line but the last is written whole. "
                        "Remove the folder to start with an empty local cloud."
                    ) from error

    def close(self) -> None:
        os.close(self._file)

    def _drop_torn_line(self) -> None:
        content = self.path.read_bytes()
        if content and not content.endswith(b"\n"):
            os.ftruncate(self._file, content.rfind(b"\n") + 1)
