"""What a resource type takes: names, types and required inputs (from the SDK), defaults and behaviour (from the table)."""

from __future__ import annotations

import copy
import difflib
import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.aws.plugin.wire import UNKNOWN, Secret

_HERE = Path(__file__).parent
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}


@dataclass(frozen=True)
class Failure:
    """One input that is wrong: its path in wire names, and a sentence with the rule and the fix."""

    path: str
    reason: str


@functools.cache
def _schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((_HERE / "schema.json").read_text())
    return loaded


@functools.cache
def _behaviour() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((_HERE / "behaviour.json").read_text())["resources"]
    return loaded


@dataclass(frozen=True)
class ResourceSchema:
    """Inputs and behaviour of one type. Get it by `of`."""

    token: str
    inputs: dict[str, Any]
    facts: dict[str, Any]

    @staticmethod
    @functools.cache
    def of(token: str) -> ResourceSchema:
        """KeyError when the stand-in has no schema of `token`."""
        return ResourceSchema(token, _schema()["resources"][token], _behaviour()[token])

    @property
    def computed(self) -> list[str]:
        return list(self.facts.get("computed", ()))

    @property
    def optional_computed(self) -> frozenset[str]:
        listed = (*self.facts.get("optional_computed", ()), *self.facts.get("optional_computed_nested", ()))
        return frozenset(listed)

    @property
    def force_new(self) -> frozenset[str]:
        return frozenset(self.facts.get("force_new", ()))

    @property
    def sensitive(self) -> frozenset[str]:
        return frozenset(self.facts.get("sensitive", ()))

    @property
    def autoname(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.facts.get("autoname")
        return found

    @property
    def regional(self) -> bool:
        return bool(self.facts.get("regional"))

    @property
    def takes_tags(self) -> bool:
        return "tags" in self.inputs

    def default(self, path: str) -> Any:
        """The default of an input by its dotted path, or None."""
        return self.facts.get("defaults", {}).get(path)

    def with_defaults(self, inputs: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """A copy of `inputs` with the defaults filled in, and the top-level names that were."""
        filled = copy.copy(inputs)
        added = []
        for path, value in self.facts.get("defaults", {}).items():
            head, _, rest = path.partition(".")
            if not rest:
                if filled.get(head) is None and head in self.inputs:
                    filled[head] = value
                    added.append(head)
            elif head in filled:
                filled[head] = _fill(filled[head], rest.split("."), value)
        return filled, added


def _fill(value: Any, path: list[str], default: Any) -> Any:
    """Set `default` at `path` inside every block that is there; blocks left out stay out."""
    if isinstance(value, Secret):
        return Secret(_fill(value.value, path, default))
    if isinstance(value, list):
        return [_fill(item, path, default) for item in value]
    if not isinstance(value, dict):
        return value
    if len(path) == 1:
        return value if value.get(path[0]) is not None else {**value, path[0]: default}
    return {**value, path[0]: _fill(value[path[0]], path[1:], default)} if path[0] in value else value


def failures(inputs: dict[str, Any], properties: dict[str, Any]) -> list[Failure]:
    """Every input that has no such name, is missing, or has the wrong type. Unknown values pass: they are not yet there."""
    return list(_object_failures(inputs, properties, ""))


def provider_properties() -> dict[str, Any]:
    properties: dict[str, Any] = _schema()["provider"]
    return properties


def _object_failures(value: dict[str, Any], properties: dict[str, Any], prefix: str) -> list[Failure]:
    found = []
    for name in value:
        if name not in properties and not name.startswith("__"):
            near = difflib.get_close_matches(name, list(properties), n=1)
            hint = f"Did you mean {near[0]}?" if near else f"It takes {', '.join(list(properties)[:30])}."
            found.append(Failure(prefix + name, f"there is no such input. {hint}"))
    for name, definition in properties.items():
        given = value.get(name)
        if given is None:
            if definition.get("required"):
                found.append(Failure(prefix + name, "this input is required. Give it a value."))
            continue
        found += _value_failures(given, definition["type"], prefix + name)
    return found


def _value_failures(value: Any, expected: Any, path: str) -> list[Failure]:
    if isinstance(value, Secret):
        return _value_failures(value.value, expected, path)
    if value is UNKNOWN or value is None or expected == "any":
        return []
    if isinstance(expected, list):
        kind, inner = expected
        steps: list[tuple[str, Any]]
        if kind == "list" and isinstance(value, list):
            steps = [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        elif kind != "list" and isinstance(value, dict):
            steps = [(f"{path}.{key}", item) for key, item in value.items()]
        else:
            return [_wrong(value, f"a {kind}", path)]
        return [failure for step, item in steps for failure in _value_failures(item, inner, step)]
    if expected.startswith("#"):
        if not isinstance(value, dict):
            return [_wrong(value, "an object", path)]
        return _object_failures(value, _schema()["types"][expected[1:]], f"{path}.")
    # A bool is an int to Python, and a wrong type here.
    fits = isinstance(value, _PYTHON_TYPES[expected]) and (expected == "boolean" or not isinstance(value, bool))
    return [] if fits else [_wrong(value, f"a {expected}", path)]


def _wrong(value: Any, wanted: str, path: str) -> Failure:
    given = {list: "a list", dict: "an object", str: "a string", bool: "a boolean"}.get(type(value), "a number")
    return Failure(path, f"{given} was given where {wanted} is meant.")


def shaped(value: Any, expected: Any, item: Callable[[Any, str], Any]) -> Any:
    """What a service answered, in the form of the SDK's type `expected`; `item(block, name)` finds an input in a block."""
    if value is None or expected == "any":
        return value
    if isinstance(expected, list):
        if expected[0] == "list":
            return [shaped(entry, expected[1], item) for entry in value]
        return {key: shaped(entry, expected[1], item) for key, entry in value.items()}
    if expected.startswith("#"):
        found = {
            name: shaped(item(value, name), of["type"], item) for name, of in _schema()["types"][expected[1:]].items()
        }
        return {name: entry for name, entry in found.items() if entry is not None}
    if expected == "string" and isinstance(value, bool):
        # Some flags are texts in the SDK.
        return str(value).lower()
    return str(value) if expected == "string" else value
