"""The runtime's state on disk: one folder for each sandbox and each container. Nothing that matters is in memory
only."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from local.records import read_record, write_record

Kind = Literal["sandboxes", "containers"]


class Store:
    """Folders below `root`, which only one runtime at a time may use."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def prepare(self) -> None:
        """Make the folders and take away what a killed runtime had half removed. Raises OSError."""
        for name in ("sandboxes", "containers", "removed"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        for leftover in (self.root / "removed").iterdir():
            shutil.rmtree(leftover, ignore_errors=True)

    def new_id(self) -> str:
        return secrets.token_hex(16)

    def folder(self, kind: Kind, identifier: str) -> Path:
        return self.root / kind / identifier

    def save(self, kind: Kind, identifier: str, record: dict[str, Any]) -> None:
        """Write the record of one object, which makes it exist. Raises OSError and then changes nothing."""
        folder = self.folder(kind, identifier)
        folder.mkdir(exist_ok=True)
        write_record(folder / "record.json", record)

    def load(self, kind: Kind) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every object's id and record. A folder without a record is half made, and is removed."""
        for folder in sorted((self.root / kind).iterdir()):
            record = read_record(folder / "record.json")
            if record:
                yield folder.name, record
            else:
                shutil.rmtree(folder, ignore_errors=True)

    async def remove(self, kind: Kind, identifier: str) -> None:
        """Make the object not exist, at once; then delete its files. Raises OSError if it still exists."""
        grave = self.root / "removed" / f"{identifier}-{os.getpid()}"
        with contextlib.suppress(FileNotFoundError):
            self.folder(kind, identifier).rename(grave)
        await asyncio.to_thread(shutil.rmtree, grave, ignore_errors=True)

    @property
    def last_address(self) -> str | None:
        """The pod address given out last."""
        value = read_record(self.root / "addresses.json").get("last")
        return None if value is None else str(value)

    @last_address.setter
    def last_address(self, value: str) -> None:
        write_record(self.root / "addresses.json", {"last": value})
