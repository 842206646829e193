"""Stack files of the checkout, and variations of them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import yaml
from tandem.config.load import KEY, load_stack, parse_stack
from tandem.config.stack import Stack
from tandem.errors import ConfigError, Fault

STACKS = Path(__file__).parents[2] / "stacks"


def names(environment: str = "*") -> list[str]:
    """Names of the stacks, of one environment or of all."""
    files = STACKS.glob(f"Pulumi.{environment}-*.yaml")
    return sorted(file.name.removeprefix("Pulumi.").removesuffix(".yaml") for file in files)


def load(name: str) -> Stack:
    """One stack as it stands."""
    return load_stack(STACKS / f"Pulumi.{name}.yaml")


def data(name: str) -> dict[str, Any]:
    """One stack's description, to be changed by the test."""
    document = yaml.safe_load((STACKS / f"Pulumi.{name}.yaml").read_text(encoding="utf-8"))
    return copy.deepcopy(document["config"][KEY])


def faults(description: dict[str, Any]) -> list[Fault]:
    """What is wrong with a description; empty if nothing is."""
    try:
        parse_stack(description, "stacks/Pulumi.test.yaml")
    except ConfigError as error:
        return list(error.faults)
    return []


def only_fault(description: dict[str, Any]) -> Fault:
    """The one thing that is wrong with a description."""
    found = faults(description)
    assert len(found) == 1, f"one fault was expected: {[str(fault) for fault in found]}"
    return found[0]
