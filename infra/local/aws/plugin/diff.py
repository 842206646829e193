"""The difference between what a program asks for and what state holds, and which part of it needs a replacement.

The state is compared, not the inputs of the last run: so drift that a refresh found is put right by the next update.
Paths are wire names; a list index is written `[0]`, and left out when a path is looked up in the table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from local.aws.plugin.compare import is_empty, pairs, same
from local.aws.plugin.schema import ResourceSchema
from local.aws.plugin.wire import UNKNOWN

_INDEX = re.compile(r"\[\d+\]")


@dataclass
class Difference:
    """Changed paths by kind (`add`, `delete`, `update`) and the paths among them that replace."""

    changes: dict[str, str] = field(default_factory=dict)
    replaces: set[str] = field(default_factory=set)

    @property
    def top_level(self) -> set[str]:
        """Names of the inputs that changed."""
        return {re.split(r"[.\[]", path, maxsplit=1)[0] for path in self.changes}


def difference(
    schema: ResourceSchema,
    state: dict[str, Any],
    old_inputs: dict[str, Any],
    new_inputs: dict[str, Any],
    ordered: frozenset[str] = frozenset(),
) -> Difference:
    """Compare new inputs with the state. `ordered` names the lists whose order counts."""
    found = Difference()
    for name in schema.inputs:
        if name in ("tags", "tagsAll"):
            continue
        compared = _Compared(schema, found, ordered)
        compared.value(name, state.get(name), old_inputs.get(name), new_inputs.get(name))
    for path in found.changes:
        if _forces_new(schema, path, state, new_inputs):
            found.replaces.add(path)
    return found


@dataclass
class _Compared:
    schema: ResourceSchema
    found: Difference
    ordered: frozenset[str]

    def value(self, path: str, state: Any, old: Any, new: Any) -> None:
        if is_empty(new):
            self._absent(path, state, old, new)
        elif new is UNKNOWN:
            self.found.changes[path] = "add" if is_empty(state) else "update"
        elif is_empty(state):
            self.found.changes[path] = "add"
        elif isinstance(new, dict) and isinstance(state, dict):
            before = old if isinstance(old, dict) else {}
            for key in dict.fromkeys((*new, *before)):
                self.value(f"{path}.{key}", state.get(key), before.get(key), new.get(key))
        elif isinstance(new, list) and isinstance(state, list):
            self._list(path, state, old if isinstance(old, list) else [], new)
        elif not same(new, state):
            self.found.changes[path] = "update"

    def _absent(self, path: str, state: Any, old: Any, new: Any) -> None:
        name = _INDEX.sub("", path)
        if is_empty(state):
            return
        if isinstance(new, bool | int | float):
            # "Off" and "none" are values where the state says otherwise, whatever the default is.
            self.found.changes[path] = "update"
            return
        if same(self.schema.default(name), state):
            return
        if new is not None and is_empty(new) and not is_empty(old):
            # The program says "empty" where it said something before.
            self.found.changes[path] = "delete" if isinstance(state, list | dict) else "update"
            return
        computed = {name, name.partition(".")[0]} & set(self.schema.computed)
        filled_in = computed or name in self.schema.optional_computed
        # Inside a block only what the program once gave can be missing: the rest was filled in by AWS.
        if not filled_in and ("." not in name or not is_empty(old)):
            self.found.changes[path] = "delete"

    def _list(self, path: str, state: list[Any], old: list[Any], new: list[Any]) -> None:
        name = _INDEX.sub("", path)
        if name in self.ordered or (len(new) == len(state) == 1):
            matched = [(index, index) for index in range(min(len(new), len(state)))]
        else:
            matched = pairs(new, state)
            rest_new = [index for index in range(len(new)) if index not in {one for one, _ in matched}]
            rest_state = [index for index in range(len(state)) if index not in {other for _, other in matched}]
            # What is left on both sides changed in place, as well as one can tell.
            matched += list(zip(rest_new, rest_state, strict=False))
        by_new = dict(matched)
        for index, item in enumerate(new):
            before = old[index] if index < len(old) else None
            other = state[by_new[index]] if index in by_new else None
            self.value(f"{path}[{index}]", other, before, item)
        for index in range(len(state)):
            if index not in by_new.values():
                self.found.changes[f"{path}[{index}]"] = "delete"


def _forces_new(schema: ResourceSchema, path: str, state: dict[str, Any], new: dict[str, Any]) -> bool:
    name = _INDEX.sub("", path)
    if name in schema.force_new:
        return True
    if path.endswith("]") and name.rpartition(".")[0] in schema.force_new:
        return True
    # A whole block that comes or goes takes its listed values with it.
    prefix = f"{name}."
    value = _at(new, name) or _at(state, name)
    return any(
        _at(value, listed.removeprefix(prefix)) is not None for listed in schema.force_new if listed.startswith(prefix)
    )


def _at(value: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(value, list):
            value = next((item for item in value if isinstance(item, dict) and not is_empty(item.get(step))), None)
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return None if is_empty(value) else value


def ignored(path: str, ignore_changes: list[str]) -> bool:
    """Is `path` covered by one of the program's `ignoreChanges`?"""
    plain = _INDEX.sub("", path)
    for entry in ignore_changes:
        wanted = re.sub(r"\[(?:\d+|\*)\]", "", entry).replace('["', ".").replace('"]', "")
        if plain == wanted or plain.startswith(f"{wanted}."):
            return True
    return False


def compare_tags(found: Difference, state: dict[str, Any], news: dict[str, Any], wanted: Any) -> None:
    """Adds how tags differ: own ones as `tags`, those of the provider as `tagsAll`. `wanted` are all tags to be."""
    own, own_state = news.get("tags"), state.get("tags") or {}
    if own is UNKNOWN:
        found.changes["tags"] = "update"
        return
    own = own or {}
    _compare_map(found, "tags", own_state, own)
    rest = {key: value for key, value in (state.get("tagsAll") or {}).items() if key not in {*own, *own_state}}
    _compare_map(found, "tagsAll", rest, {key: wanted[key] for key in wanted if key not in {*own, *own_state}})


def _compare_map(found: Difference, path: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    for key in {**old, **new}:
        if key not in old:
            found.changes[f"{path}.{key}"] = "add"
        elif key not in new:
            found.changes[f"{path}.{key}"] = "delete"
        elif old[key] != new[key]:
            found.changes[f"{path}.{key}"] = "update"
