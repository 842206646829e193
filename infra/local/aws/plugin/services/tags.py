"""AWS has two spellings of a tag list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def listed(tags: Mapping[str, str] | None, key: str = "Key", value: str = "Value") -> list[dict[str, str]]:
    return [{key: name, value: text} for name, text in (tags or {}).items()]


def mapped(tags: Any, key: str = "Key", value: str = "Value") -> dict[str, str]:
    return {entry[key]: entry.get(value, "") for entry in tags or []}
