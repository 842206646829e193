"""State of what moto lacks: recorded as it was asked for, and never more.

`GET /_tandem/recorded` lists all; `GET|PUT|DELETE /_tandem/recorded/<region>/<type>/<id>` (each part percent-encoded)
handles one. A record is `{"outputs": {...}, "whole": bool}`: `whole` means that the resource exists only here;
otherwise it exists in moto, which does not keep the properties recorded here. Changes go through the journal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

PREFIX = "/_tandem/recorded"


@dataclass
class RecordedStore:
    """Recorded resources by (region, type, id)."""

    listing: Path | None = None
    """File that lists the wholly recorded resources for `tandem status`; None writes none."""
    records: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)

    def answer(self, method: str, raw_path: str, body: bytes) -> tuple[int, Any]:
        """HTTP status and JSON answer for one request; `raw_path` is still percent-encoded."""
        parts = tuple(unquote(part) for part in raw_path.removeprefix(PREFIX).split("/")[1:] if part)
        if method == "GET" and not parts:
            return 200, {"recorded": self.listed()}
        if len(parts) != 3:
            return 400, {"error": f"{raw_path}: a record is named by region, type and id, each percent-encoded"}
        region, kind, name = parts
        key = (region, kind, name)
        if method == "PUT":
            self.records[key] = json.loads(body)
            return 200, self.records[key]
        if key not in self.records:
            return 404, {"error": f"{kind} {name}: not recorded in {region}"}
        if method == "GET":
            return 200, self.records[key]
        if method == "DELETE":
            return 200, self.records.pop(key)
        return 405, {"error": f"{method}: use GET, PUT or DELETE"}

    def listed(self) -> list[dict[str, Any]]:
        return [
            {"region": region, "type": kind, "id": name, "whole": bool(record.get("whole"))}
            for (region, kind, name), record in sorted(self.records.items())
        ]

    def write_listing(self) -> None:
        """Rewrite the listing file at once, so that a reader never sees half of it."""
        if self.listing is None:
            return
        draft = self.listing.with_suffix(".new")
        draft.write_text(json.dumps([record for record in self.listed() if record["whole"]], indent=1) + "\n")
        draft.replace(self.listing)
