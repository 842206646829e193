"""Checks two checkpoint folders, and a description of the engines that would run them, as a pair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tandem.errors import ConfigError, Fault
from tandem.facts.instances import instances
from tandem.ops import checkpoint_files
from tandem.plan.pairing.check import check
from tandem.plan.pairing.engine import EngineSide, arguments
from tandem.plan.pairing.verdict import Answer

ROLES = ("prefill", "decode")


def run(prefill: Path, decode: Path, engine: Path | None) -> Answer:
    """The verdict. Raises `ConfigError` for files that cannot be read, all of them at once."""
    faults: list[Fault] = []
    files = []
    for folder in (prefill, decode):
        try:
            files.append(checkpoint_files.read(folder))
        except ConfigError as error:
            faults += error.faults
    sides: dict[str, EngineSide] = {}
    if engine is not None:
        try:
            sides = read_engines(engine)
        except ConfigError as error:
            faults += error.faults
    if faults:
        raise ConfigError(faults)
    return check(files[0], files[1], sides)


def read_engines(file: Path) -> dict[str, EngineSide]:
    """`{"prefill": {"instance_type": ..., "args": {...}}, "decode": {...}}`; a part that is left out is not known."""
    try:
        given = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError([Fault(str(file), "", f"cannot be read as JSON: {reason}", "Correct the file")]) from error
    faults: list[Fault] = []
    if not isinstance(given, dict):
        raise ConfigError([Fault(str(file), "", "must hold an object with prefill and decode", "Correct the file")])
    for role in sorted(set(given) - set(ROLES)):
        faults.append(Fault(f"{file}: {role}", "", "is no role", f"Write one of: {', '.join(ROLES)}"))
    sides = {role: _side(given[role], f"{file}: {role}", faults) for role in ROLES if role in given}
    if faults:
        raise ConfigError(faults)
    return sides


def _side(given: Any, where: str, faults: list[Fault]) -> EngineSide:
    if not isinstance(given, dict):
        faults.append(Fault(where, type(given).__name__, "must be an object", "Give instance_type and args"))
        return EngineSide()
    for key in sorted(set(given) - {"instance_type", "args"}):
        faults.append(Fault(f"{where}.{key}", "", "is not known", "Give instance_type and args"))
    kind, flags = given.get("instance_type"), given.get("args") or {}
    instance = instances().get(kind) if isinstance(kind, str) else None
    if kind is not None and instance is None:
        known = ", ".join(sorted(name for name, each in instances().items() if each.accelerator))
        faults.append(
            Fault(f"{where}.instance_type", str(kind), "is no instance type that is known", f"Write one of: {known}")
        )
    if not isinstance(flags, dict):
        faults.append(
            Fault(f"{where}.args", type(flags).__name__, "must be an object of flags", 'Write {"tp-size": 2}')
        )
        return EngineSide(instance)
    found, wrong = arguments(flags, f"{where}.args")
    faults += wrong
    return EngineSide(instance, found)
