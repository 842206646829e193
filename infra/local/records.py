"""Small JSON files that one process writes and others read: always whole, never half."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str, mode: int = 0o600) -> None:
    """Replace `path` by `text` in one step; a reader sees the old or the new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    temporary.replace(path)


def write_record(path: Path, value: Any) -> None:
    """Replace `path` by `value` as JSON in one step."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def read_record(path: Path) -> dict[str, Any]:
    """The record at `path`; empty if there is none or if it is not a JSON object."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
