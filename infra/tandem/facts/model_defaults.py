"""What a key that a model's `config.json` leaves out means: its model class's default. `data/model_defaults.json` has the source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tandem.facts.tables import document


def model_defaults(model_type: str) -> Mapping[str, Any] | None:
    """Key -> default of that class; None for a class that the table does not have.

    `rope_parameters` is in transformers 5's form. `layer_pattern` is the shortest list of layer kinds that the class's layers repeat.
    """
    found: Mapping[str, Any] | None = document("model_defaults")["models"].get(model_type)
    return found
