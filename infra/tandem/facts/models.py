"""Model configs that Tandem knows by name. `data/models.json` has source and date."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any

from tandem.facts.tables import document

ALIASES = {
    "nvidia/Llama-3.1-8B-Instruct-FP8": "meta-llama/Llama-3.1-8B",
    "deepseek-ai/DeepSeek-R1": "deepseek-ai/DeepSeek-V3",
}
"""Checkpoints of a model that have its shape."""


@cache
def configs() -> MappingProxyType[str, dict[str, Any]]:
    """`config.json` of each known model, by name."""
    return MappingProxyType({row["name"]: row["config"] for row in document("models")["models"]})


def find(name: str) -> dict[str, Any] | None:
    """The config of a model: by its full name, an alias, or the part after the owner, tunes (`-Instruct`, `-FP8`) included."""
    known = configs()
    exact = known.get(ALIASES.get(name, name))
    if exact is not None:
        return exact
    short = name.rsplit("/", 1)[-1].lower()
    fitting = [full for full in known if short.startswith(full.rsplit("/", 1)[-1].lower())]
    return known[max(fitting, key=len)] if fitting else None
