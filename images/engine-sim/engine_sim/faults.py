"""Faults that can be switched on, by TANDEM_SIM_FAULTS or POST /tandem_sim/fault. Each ends by DELETE, by its time or by its count."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

KINDS = {
    "hang": "the scheduler stands still: no token, and /health fails after its timeout",
    "oom": "the next forward pass runs out of memory and the engine exits",
    "crash": "the engine exits at once, with `exit_code` (default 1)",
    "slow": "every forward pass takes `factor` times as long",
    "slow_link": "KV leaves prefill at no more than `bytes_per_second`",
    "drop_link": "every KV transfer fails",
    "corrupt": "one byte of the KV is changed after its checksum was taken",
    "mismatch": "`field` (page_size, kv_cache_dtype or pair_revision) is told to the peer as `value`",
    "http_5xx": "data-plane requests are answered with `status` (default 500)",
}
REQUIRED = {"slow": "factor", "slow_link": "bytes_per_second", "mismatch": "field"}


class BadFault(Exception):
    """What was asked for is not a fault. The message is for a person; becomes a 400."""


@dataclass
class Fault:
    """One fault that is on."""

    kind: str
    options: dict[str, Any]
    ends: float | None
    """Monotonic time; None: until cleared."""
    left: int | None
    """How often it still strikes; None: any number of times."""


class Faults:
    """The faults of one engine. Not thread-safe: belongs to the event loop, except for `active`, which only reads."""

    def __init__(self) -> None:
        self._on: dict[str, Fault] = {}
        self._changed = asyncio.Event()

    def set(self, spec: Any) -> Fault:
        """Switches a fault on: `{"kind": ..., "seconds": ..., "count": ..., <options>}`. Raises `BadFault`."""
        if not isinstance(spec, dict) or spec.get("kind") not in KINDS:
            raise BadFault(
                f"kind: {spec.get('kind') if isinstance(spec, dict) else spec} - must be one of {', '.join(KINDS)}."
            )
        options = {k: v for k, v in spec.items() if k not in ("kind", "seconds", "count")}
        needed = REQUIRED.get(spec["kind"])
        if needed and needed not in options:
            raise BadFault(f"{spec['kind']} - needs {needed}: {KINDS[spec['kind']]}.")
        try:
            ends = time.monotonic() + float(spec["seconds"]) if "seconds" in spec else None
            left = int(spec["count"]) if "count" in spec else None
            for name in ("factor", "bytes_per_second"):
                if name in options and float(options[name]) <= 0:
                    raise ValueError
        except (TypeError, ValueError):
            raise BadFault("seconds, count, factor and bytes_per_second - must be positive numbers.") from None
        fault = Fault(spec["kind"], options, ends, left)
        self._on[fault.kind] = fault
        self._wake()
        return fault

    def clear(self, kind: str | None = None) -> list[str]:
        """Switches one fault off, or all; returns the kinds that were on."""
        gone = [k for k in self._on if kind is None or k == kind]
        for name in gone:
            del self._on[name]
        self._wake()
        return gone

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def active(self, kind: str) -> dict[str, Any] | None:
        """The options of a fault that is on, else None."""
        fault = self._on.get(kind)
        if fault is None or (fault.ends is not None and time.monotonic() >= fault.ends):
            self._on.pop(kind, None)
            return None
        return fault.options

    def strike(self, kind: str) -> dict[str, Any] | None:
        """As `active`, and counts: a fault with a count ends with its last strike."""
        options = self.active(kind)
        fault = self._on.get(kind)
        if options is not None and fault is not None and fault.left is not None:
            fault.left -= 1
            if fault.left <= 0:
                del self._on[kind]
        return options

    async def wait_until_off(self, kind: str) -> None:
        """Returns when the fault is off."""
        while (fault := self._on.get(kind)) is not None and self.active(kind) is not None:
            left = None if fault.ends is None else max(0.0, fault.ends - time.monotonic())
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                continue

    def report(self) -> list[dict[str, Any]]:
        """What is on, for GET /tandem_sim/fault."""
        now = time.monotonic()
        return [
            {
                "kind": f.kind,
                **f.options,
                "seconds_left": None if f.ends is None else round(f.ends - now, 3),
                "count_left": f.left,
            }
            for name in list(self._on)
            if self.active(name) is not None
            for f in (self._on[name],)
        ]
