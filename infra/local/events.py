"""What happened to the local cloud, told for people."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from local import limits


@dataclass(frozen=True)
class Event:
    """One thing that happened to one process."""

    at: str
    """UTC, ISO 8601 with milliseconds, so that text order is time order."""
    process: str
    what: str
    """`started`, `ready`, `died`, `restarted`, `removed`, `took-over`, `stopped`, `note`."""
    text: str
    """A sentence for a person."""


class Events:
    """The latest events, oldest first."""

    def __init__(self, known: Iterable[dict[str, Any]] = ()) -> None:
        self._events: deque[Event] = deque(maxlen=limits.EVENTS_MAX)
        for event in known:
            self._events.append(Event(event["at"], event["process"], event["what"], event["text"]))

    def add(self, process: str, what: str, text: str) -> Event:
        """Record an event of this moment."""
        event = Event(moment(), process, what, text)
        self._events.append(event)
        return event

    def as_json(self) -> list[dict[str, str]]:
        return [asdict(event) for event in self._events]


def moment() -> str:
    """The time of the day, UTC, in the form that events carry."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def describe_exit(code: int) -> str:
    """An exit code as Python gives it (negative: a signal) in words, for example `killed by SIGKILL`."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"
