"""Reads a stack file and reports every fault in it at once, with its place, the value, the rule and the fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tandem.config.stack import STACK, USES, Stack
from tandem.errors import ConfigError, Fault

KEY = "tandem:stack"


def load_stack(path: Path) -> Stack:
    """The stack that `path` (a `Pulumi.<stack>.yaml`) describes. Raises `ConfigError` with all faults."""
    where = display_path(path)
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError([Fault(where, "", "no such stack file", "Create it, or check the stack's name")]) from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError([Fault(where, "", f"not readable as YAML: {reason}", "Correct the file")]) from error
    config = document.get("config") if isinstance(document, Mapping) else None
    if not isinstance(config, Mapping) or KEY not in config:
        raise ConfigError([Fault(where, "", f"has no config.{KEY}", f"Put the stack's description under config.{KEY}")])
    return parse_stack(config[KEY], where)


def parse_stack(data: object, where: str) -> Stack:
    """The validated stack; `where` names the source in faults. Raises `ConfigError` with all faults."""
    try:
        stack = STACK.validate_python(data)
    except ValidationError as error:
        raise ConfigError([_fault(details, data, where) for details in error.errors()]) from error
    faults = [*_uses_faults(stack, where), *stack.faults(f"{where}: {KEY}")]
    if faults:
        raise ConfigError(faults)
    return stack


def display_path(path: Path) -> str:
    """The path from the checkout's root where that is shorter, as people name it."""
    parts = path.parts
    return str(Path(*parts[parts.index("stacks") :])) if "stacks" in parts else str(path)


def _uses_faults(stack: Stack, where: str) -> Iterator[Fault]:
    needed = USES[stack.kind]
    for kind in sorted(needed - stack.uses.keys()):
        yield Fault(
            f"{where}: {KEY}.uses",
            repr(stack.uses),
            f"a {stack.kind} stack reads the outputs of a {kind} stack",
            f"Add `{kind}: {stack.environment}-{kind}`",
        )
    for kind in sorted(stack.uses.keys() - needed):
        yield Fault(
            f"{where}: {KEY}.uses.{kind}",
            stack.uses[kind],
            f"a {stack.kind} stack reads only {', '.join(sorted(needed)) or 'no other stack'}",
            "Remove it",
        )


def _fault(details: ErrorDetails, data: object, where: str) -> Fault:
    location = _without_tags(details["loc"], data)
    path = KEY + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    given = details.get("input")
    kind = details["type"]
    context = details.get("ctx") or {}
    if kind == "extra_forbidden":
        return Fault(f"{where}: {path}", _shown(given), "unknown key", _nearest(details["loc"], data))
    if kind == "missing":
        return Fault(f"{where}: {path}", "(missing)", "this key is required", "Add it")
    message = details["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    rule, _, fix = message.partition(" | ")
    nested = context.get("error")
    if isinstance(nested, ConfigError):
        return nested.faults[0]
    return Fault(f"{where}: {path}", _shown(given), rule, fix or "Correct the value")


def _without_tags(location: tuple[int | str, ...], data: object) -> list[int | str]:
    """The location as it stands in the file: pydantic also names the member that a `kind` chose from a tagged union."""
    kept: list[int | str] = []
    here = data
    for part in location:
        if isinstance(here, Mapping):
            if part not in here and here.get("kind") == part:
                continue
            here = here.get(part)
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
        kept.append(part)
    return kept


def _nearest(location: tuple[int | str, ...], data: object) -> str:
    known = sorted(_known_keys(location))
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    if close:
        return f"Did you mean `{close[0]}`?"
    return f"Known keys: {', '.join(known)}" if known else "Remove it"


def _known_keys(location: tuple[int | str, ...]) -> set[str]:
    """Field names that the model at `location[:-1]` has, found by walking the models' annotations."""
    candidates: list[Any] = [STACK._type]
    for part in location[:-1]:
        following: list[Any] = []
        for model in _models(candidates):
            if isinstance(part, str) and part in model.model_fields:
                following.append(model.model_fields[part].annotation)
            elif isinstance(part, int) or part not in model.model_fields:
                following.append(model)
        candidates = following or candidates
    return {name for model in _models(candidates) for name in model.model_fields}


def _models(annotations: list[Any]) -> Iterator[type[BaseModel]]:
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield annotation
        elif get_origin(annotation) is not None or isinstance(annotation, Union.__class__):
            yield from _models([part for part in get_args(annotation) if part is not type(None)])


def _shown(value: object) -> str:
    if isinstance(value, Mapping | list):
        return "{...}" if isinstance(value, Mapping) else "[...]"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
