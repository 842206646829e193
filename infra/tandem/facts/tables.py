"""Reads a dated table of `data/`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def document(name: str) -> dict[str, Any]:
    """The document `data/<name>.json`: its date, its sources and its rows."""
    content: dict[str, Any] = json.loads((files(__package__) / "data" / f"{name}.json").read_text(encoding="utf-8"))
    return content
