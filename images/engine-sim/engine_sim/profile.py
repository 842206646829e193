"""How long the simulated GPU takes.

    prefill of a batch = prefill_base_ms + sum over requests of
                         prefill_us_per_token x new tokens + prefill_ns_per_token_pair x new tokens x (cached + new / 2)
    one decode step    = decode_base_ms + decode_us_per_request x batch + decode_ns_per_kv_token x tokens held by the batch

The first is bound by compute, with attention's quadratic term; the second by reading the weights once (the base) and each
request's KV. A profile is a dated file of entries; the entry that matches model, GPU, quantization and role most closely counts.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "profiles"


class BadProfile(Exception):
    """A profile cannot be used. The message is for a person."""


@dataclass(frozen=True)
class Profile:
    """The timing of one engine, in simulated time."""

    prefill_base_ms: float
    prefill_us_per_token: float
    prefill_ns_per_token_pair: float
    decode_base_ms: float
    decode_us_per_request: float
    decode_ns_per_kv_token: float
    weights_seconds: float
    """Time to load the weights; the HTTP port opens after it."""
    warmup_seconds: float
    """Time between the open port and ready."""
    kv_pool_tokens: int
    """Tokens of KV that the GPU holds, unless --max-total-tokens says."""
    running_requests: int
    """Most requests that decode together, unless --max-running-requests says."""
    source: str
    assumed: bool
    """True: the numbers are plausible, not measured."""

    def prefill_seconds(self, batch: Iterable[tuple[int, int]]) -> float:
        """Simulated seconds of one forward pass over `(new tokens, cached tokens)` of each request."""
        work = 0.0
        for new, cached in batch:
            work += self.prefill_us_per_token * 1e-6 * new + self.prefill_ns_per_token_pair * 1e-9 * new * (
                cached + new / 2
            )
        return self.prefill_base_ms * 1e-3 + work

    def decode_seconds(self, batch: int, kv_tokens: int) -> float:
        """Simulated seconds of one decode step for `batch` requests that hold `kv_tokens` together."""
        return (
            self.decode_base_ms * 1e-3
            + self.decode_us_per_request * 1e-6 * batch
            + self.decode_ns_per_kv_token * 1e-9 * kv_tokens
        )


NUMBERS = tuple(f.name for f in fields(Profile) if f.name not in ("source", "assumed"))


def load(name: str, *, model: str, gpu: str, quantization: str | None, role: str) -> Profile:
    """Reads a profile by name (in `profiles/`) or path and picks the closest entry. Raises `BadProfile`."""
    path = Path(name) if "/" in name or name.endswith(".json") else FOLDER / f"{name}.json"
    try:
        document = json.loads(path.read_text())
        entries: list[dict[str, Any]] = document["entries"]
    except (OSError, ValueError, KeyError) as error:
        known = ", ".join(sorted(p.stem for p in FOLDER.glob("*.json")))
        raise BadProfile(
            f"TANDEM_SIM_PROFILE: {name} - cannot be read ({error!r}). Give a path, or one of: {known}."
        ) from error
    wanted = {"model": model, "gpu": gpu, "quantization": quantization or "none", "role": role}
    merged: dict[str, Any] = {}
    source, assumed = "", False
    # Later wins: entries are laid over one another from the least to the most specific.
    for entry in sorted(entries, key=lambda e: sum(e.get(key, "*") != "*" for key in wanted)):
        if all(fnmatch.fnmatch(value.lower(), str(entry.get(key, "*")).lower()) for key, value in wanted.items()):
            merged |= {key: entry[key] for key in NUMBERS if key in entry}
            source, assumed = entry.get("source", document.get("source", "")), entry.get("assumed", False)
    missing = [key for key in NUMBERS if key not in merged]
    if missing:
        raise BadProfile(f"{path}: no entry for {wanted} gives {', '.join(missing)}. Add an entry with `*` that does.")
    merged["kv_pool_tokens"] = int(merged["kv_pool_tokens"])
    merged["running_requests"] = int(merged["running_requests"])
    return Profile(**merged, source=f"{path.name} of {document.get('date', 'unknown date')}: {source}", assumed=assumed)
