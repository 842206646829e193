"""The command-line flags of the pinned SGLang release, as its own parser knows them.

`data/engine_flags.json` is written by `tandem.facts.engine_flags_generate`; it is never edited by hand. `check` judges a rendered
command line as the real parser would (unknown flag, value that is not a choice or not of the type, value missing), except that it
reports every fault and refuses abbreviations, which argparse accepts and which break when a release adds a longer flag.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from tandem.errors import Fault, TandemError

Scalar = str | int | float | bool | None
MANY = frozenset({"*", "+"})


class UnknownFlag(TandemError):
    """A flag that the pinned release does not have."""


@dataclass(frozen=True)
class EngineFlag:
    """One flag of the engine."""

    name: str
    """With its dashes, for example `--tp-size`."""
    field: str
    """The name under which the engine reports it in `/server_info`."""
    type: str
    """`str`, `int`, `float`, `bool` (no value), `json`, or `human_int` (`64K`, `1M` or digits)."""
    action: str = "store"
    """`store` takes a value; `store_true` takes none; `boolean_optional` takes none and has a `--no-` form."""
    aliases: tuple[str, ...] = ()
    nargs: str | None = None
    """`*` and `+`: any number of values, `?`: at most one. None: exactly one for `store`, else none."""
    choices: tuple[Scalar, ...] = ()
    """Empty: any value of the type."""
    default: Scalar | tuple[Scalar, ...] = None
    """What the engine is given without the flag. None often means that it decides at start."""
    required: bool = False
    replacement: str | None = None
    """Not None: the flag is deprecated, and this is what to write instead."""

    @property
    def takes_value(self) -> bool:
        """Whether a value follows the flag."""
        return self.action == "store"


@dataclass(frozen=True)
class FlagTable:
    """All flags of one release."""

    version: str
    date: str
    source: str
    flags: tuple[EngineFlag, ...]

    def by_name(self) -> dict[str, EngineFlag]:
        """Every spelling, aliases and `--no-` forms included, to its flag."""
        names: dict[str, EngineFlag] = {}
        for flag in self.flags:
            for spelling in (flag.name, *flag.aliases):
                names[spelling] = flag
                if flag.action == "boolean_optional":
                    names["--no-" + spelling.removeprefix("--")] = flag
        return names


def _flag(raw: dict[str, Any]) -> EngineFlag:
    default = raw.get("default")
    return EngineFlag(
        name=raw["flag"],
        field=raw["field"],
        type=raw["type"],
        action=raw["action"],
        aliases=tuple(raw.get("aliases", ())),
        nargs=raw.get("nargs"),
        choices=tuple(raw.get("choices", ())),
        default=tuple(default) if isinstance(default, list) else default,
        required=raw.get("required", False),
        replacement=raw.get("replacement"),
    )


@cache
def table() -> FlagTable:
    """The table of the pinned release."""
    raw = json.loads(resources.files("tandem.facts").joinpath("data/engine_flags.json").read_text())
    return FlagTable(raw["version"], raw["date"], raw["source"], tuple(_flag(entry) for entry in raw["flags"]))


@cache
def _names() -> dict[str, EngineFlag]:
    return table().by_name()


def flag(name: str) -> EngineFlag:
    """The flag of that name or alias. Raises `UnknownFlag`, naming the nearest, if the release has none."""
    found = _names().get(name)
    if found is None:
        raise UnknownFlag(f"{name} - is not a flag of sglang {table().version}. {nearest(name)}")
    return found


def nearest(name: str) -> str:
    """Advice for a misspelt flag."""
    close = difflib.get_close_matches(name, _names(), n=1, cutoff=0.6)
    return f"Write {close[0]}" if close else "Remove it, or regenerate the table if a newer release has it"


HUMAN_INT = re.compile(r"^\d+(\.\d+)?[kKmMgGbBtT]?$")


def value_fault(known: EngineFlag, value: str, where: str) -> Fault | None:
    """What is wrong with a value of a flag; None if the real parser would take it.

    A value with a `$(NAME)` expansion in it is filled in by Kubernetes when the container starts and is not judged.
    """
    if "$(" in value:
        return None
    converted: Scalar = value
    try:
        if known.type == "int":
            converted = int(value)
        elif known.type == "float":
            converted = float(value)
        elif known.type == "json":
            json.loads(value)
        elif known.type == "human_int" and not HUMAN_INT.match(value):
            raise ValueError
    except ValueError:
        wanted = {
            "int": "a whole number",
            "float": "a number",
            "json": "JSON",
            "human_int": "a count such as 4096 or 64K",
        }
        return Fault(where, value, f"{known.name} takes {wanted[known.type]}", f"Give {wanted[known.type]}")
    if known.choices and converted not in known.choices:
        choices = [str(choice) for choice in known.choices if choice is not None]
        close = difflib.get_close_matches(value, choices, n=1, cutoff=0.5)
        fix = f"Write {close[0]}" if close else "Choose one of them"
        return Fault(where, value, f"{known.name} takes one of: {', '.join(choices)}", fix)
    return None


def check(args: Sequence[str], where: str = "engine arguments") -> list[Fault]:
    """Every fault of a command line, empty if the engine's parser would take it.

    `args` is what follows the program: `["--model-path", "/models/m", "--tp-size", "8"]`. Deprecated flags are faults, since this
    is for lines that we render ourselves.
    """
    faults: list[Fault] = []
    seen: set[str] = set()
    index = 0
    while index < len(args):
        token = args[index]
        index += 1
        if not token.startswith("--"):
            faults.append(Fault(where, token, "is not a flag and follows one that takes no more values", "Remove it"))
            continue
        name, separator, inline = token.partition("=")
        known = _names().get(name)
        values = [inline] if separator else []
        if not separator:
            while index < len(args) and not args[index].startswith("--"):
                if known is not None and not known.takes_value:
                    break
                if known is not None and known.nargs not in MANY and values:
                    break
                values.append(args[index])
                index += 1
        if known is None:
            faults.append(Fault(where, name, f"is not a flag of sglang {table().version}", nearest(name)))
            continue
        here = f"{where}: {name}"
        if known.name in seen:
            faults.append(Fault(here, " ".join(values), "is given twice and only the last counts", "Give it once"))
        seen.add(known.name)
        if known.replacement is not None:
            faults.append(Fault(here, "", "is deprecated in the pinned release", f"Write {known.replacement}"))
        if known.takes_value and not values and known.nargs not in ("*", "?"):
            faults.append(Fault(here, "", f"{known.name} needs a value", "Give one"))
        if not known.takes_value and values:
            faults.append(Fault(here, values[0], f"{known.name} takes no value", "Remove the value"))
            continue
        faults += [fault for value in values if (fault := value_fault(known, value, here)) is not None]
    for known in table().flags:
        if known.required and known.name not in seen:
            faults.append(Fault(where, "", f"{known.name} is required", f"Give {known.name}"))
    return faults
