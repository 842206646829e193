"""What a change of the stack files does to what stands: per resource created, updated, replaced or deleted, and why.

    changed inputs(r) = paths that differ, less those the program ignores
    replaced(r)       = a changed path forces it, or an input that forces it is fed by a resource that is replaced

The second line is the difficulty: a replaced resource gets another identifier, which is nowhere in the graphs. So is the new
version that an update of a launch template makes, and that rolls its node group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tandem.facts.replacements import Behaviour, behaviour

_INDEX = re.compile(r"\[[^\]]*\]")


class Kind(StrEnum):
    """What happens to a resource."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "REPLACE"
    DELETE = "delete"


@dataclass(frozen=True)
class Resource:
    """One resource as a program declares it."""

    urn: str
    type: str
    parent: str
    dependencies: tuple[str, ...]
    fed_by: Mapping[str, tuple[str, ...]]
    """Input -> URNs of the resources whose outputs it is made of."""
    inputs: Mapping[str, Any]
    known_as: tuple[str, ...]
    """Identifiers of it that other stacks' inputs may hold."""
    ignored: tuple[str, ...]
    """Paths whose changes the program ignores."""


@dataclass(frozen=True)
class Change:
    """What happens to one resource."""

    urn: str
    kind: Kind
    inputs: tuple[str, ...]
    """Paths that differ."""
    forced_by: tuple[str, ...]
    """Of a replacement: the inputs that force it."""
    downtime: str
    """What is not there meanwhile; empty where nothing is missed."""


def joined(graphs: Mapping[str, Mapping[str, Resource]], uses: Mapping[str, tuple[str, ...]]) -> dict[str, Resource]:
    """The graphs of an environment as one: an input is also fed by a resource of a stack that its own stack uses."""
    every: dict[str, Resource] = {}
    for stack, graph in graphs.items():
        sources = {
            identifier: urn
            for used in uses.get(stack, ())
            for urn, resource in graphs.get(used, {}).items()
            for identifier in resource.known_as
        }
        for urn, resource in graph.items():
            feeds = {name: _held(value, sources) for name, value in resource.inputs.items()}
            found = {name: (*resource.fed_by.get(name, ()), *urns) for name, urns in feeds.items() if urns}
            every[urn] = replace(resource, fed_by={**resource.fed_by, **found})
    return every


def _held(value: Any, sources: Mapping[str, str]) -> tuple[str, ...]:
    """URNs of the resources whose identifiers stand in a value as they are."""
    if isinstance(value, dict):
        return tuple(urn for item in value.values() for urn in _held(item, sources))
    if isinstance(value, list):
        return tuple(urn for item in value for urn in _held(item, sources))
    return (sources[value],) if isinstance(value, str) and value in sources else ()


def changes(before: Mapping[str, Resource], after: Mapping[str, Resource]) -> tuple[Change, ...]:
    """All changes between two graphs, each by URN."""
    differing = {urn: _differing(before[urn], after[urn]) for urn in after if urn in before}
    forced = {urn: found for urn in differing if (found := _forced(after[urn], differing[urn]))}
    while True:
        passed_on = {
            urn: found
            for urn in differing.keys() - forced.keys()
            if (found := tuple(sorted(_passed_on(after[urn], forced))))
        }
        if not passed_on:
            break
        forced |= passed_on
    for urn in differing:
        differing[urn] += tuple(sorted(_new_versions(after[urn], differing, after)))
    return tuple(
        change
        for urn in sorted(before.keys() | after.keys())
        if (change := _change(urn, before.get(urn), after.get(urn), differing.get(urn, ()), forced.get(urn, ())))
    )


def _change(
    urn: str, old: Resource | None, new: Resource | None, paths: tuple[str, ...], forced: tuple[str, ...]
) -> Change | None:
    if old is None:
        return Change(urn, Kind.CREATE, (), (), "")
    facts = behaviour(old.type)
    if new is None:
        return Change(urn, Kind.DELETE, (), (), facts.downtime_of_replacement)
    if forced:
        gap = "gone until it is made again" if facts.deleted_first(new.inputs) else ""
        told = [part for part in (facts.downtime_of_replacement, gap) if part]
        return Change(urn, Kind.REPLACE, paths, forced, "; ".join(told))
    return Change(urn, Kind.UPDATE, paths, (), facts.downtime_of_update) if paths else None


def _differing(old: Resource, new: Resource) -> tuple[str, ...]:
    found = dict.fromkeys(_paths(dict(old.inputs), dict(new.inputs), ""))
    return tuple(path for path in found if not any(_covers(entry, path) for entry in new.ignored))


def _paths(old: Any, new: Any, at: str) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _paths(old.get(key), new.get(key), f"{at}.{key}" if at else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _paths(one, other, f"{at}[{index}]")
    elif old != new:
        yield at


def _covers(entry: str, path: str) -> bool:
    """Whether an entry of `ignoreChanges`, or a path that forces a replacement, is `path` or around it."""
    wanted, plain = _INDEX.sub("", entry), _INDEX.sub("", path)
    return plain == wanted or plain.startswith(f"{wanted}.")


def _forced(resource: Resource, paths: tuple[str, ...]) -> tuple[str, ...]:
    facts: Behaviour = behaviour(resource.type)
    return tuple(
        path
        for path in paths
        # A block that comes or goes takes the inputs inside it along.
        if any(_covers(forcing, path) or _covers(path, forcing) for forcing in facts.force_new)
    )


def _new_versions(
    resource: Resource, differing: Mapping[str, tuple[str, ...]], after: Mapping[str, Resource]
) -> Iterator[str]:
    """Inputs made of a version that an update of their source moves."""
    for name, sources in resource.fed_by.items():
        for urn in sources:
            if differing.get(urn) and behaviour(after[urn].type).new_version_on_update:
                yield f"{name} (a new version of {urn.rsplit('::', 1)[-1]})"


def _passed_on(resource: Resource, replaced: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    facts = behaviour(resource.type)
    for name, sources in resource.fed_by.items():
        if any(_covers(name, forcing) for forcing in facts.force_new):
            for urn in sources:
                if urn in replaced:
                    yield f"{name} (of {urn.rsplit('::', 1)[-1]}, which is replaced)"
