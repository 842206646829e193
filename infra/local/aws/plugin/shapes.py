"""Blocks of the SDK in the form of AWS's calls, and back. AWS capitalises names; a service's exceptions are a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.aws.plugin.schema import shaped
from local.aws.plugin.tags import as_pairs, from_pairs


@dataclass(frozen=True)
class Shapes:
    """How one service names and types what the SDK names and types otherwise."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Wire name -> AWS's, where capital letters alone do not lead there."""
    flags: frozenset[str] = frozenset()
    """Texts in the SDK (`"true"`) that are flags to AWS."""

    def name(self, key: str) -> str:
        """AWS's name of an input."""
        return self.names.get(key, key[0].upper() + key[1:])

    def aws(self, value: Any) -> Any:
        """A block, or a list of them, as AWS takes it; nothing and empty texts are left out."""
        if isinstance(value, dict):
            return {self.name(key): self._leaf(key, item) for key, item in value.items() if item not in (None, "")}
        if isinstance(value, list):
            return [self.aws(item) for item in value]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def sdk(self, value: Any, expected: Any) -> Any:
        """What AWS answered, in the form of the SDK's type `expected`."""
        return shaped(value, expected, self._item)

    def _leaf(self, key: str, value: Any) -> Any:
        if key in self.flags:
            return str(value).lower() == "true"
        return as_pairs(value) if key == "tags" else self.aws(value)

    def _item(self, block: Any, key: str) -> Any:
        value = block.get(self.name(key))
        return from_pairs(value) if key == "tags" and value is not None else value
