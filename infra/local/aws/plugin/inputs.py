"""Inputs that no program wrote as they are: imported, drifted, or with ignored changes."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.compare import is_empty, same
from local.aws.plugin.handler import Properties
from local.aws.plugin.schema import ResourceSchema


def inputs_of(of_type: ResourceSchema, state: Properties) -> Properties:
    """Inputs that a program would write for an imported resource."""
    given = {name: state[name] for name in of_type.inputs if name in state and not is_empty(state[name])}
    inputs: Properties = _without(given, [path.split(".") for path in of_type.computed])
    return {**inputs, "__defaults": []}


def _without(value: Any, paths: list[list[str]]) -> Any:
    """The value without what lies at the paths, in every item of a list."""
    if isinstance(value, list):
        return [_without(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    below = {key: [path[1:] for path in paths if path[0] == key] for key in value}
    return {key: _without(item, below[key]) for key, item in value.items() if [] not in below[key]}


def drifted_inputs(old_inputs: Properties, observed: Properties) -> Properties:
    """The inputs of the last run, with what is different out there put in."""
    inputs = {}
    for name, value in old_inputs.items():
        if name.startswith("__") or same(value, observed.get(name)):
            inputs[name] = value
        elif name in observed:
            inputs[name] = observed[name]
    return inputs


def with_ignored(news: Properties, state: Properties, ignore: list[str]) -> Properties:
    """Inputs in which every ignored value is the one out there, so that an update leaves it alone."""
    for entry in ignore:
        steps = entry.split(".")
        if "[" not in entry:
            news = _taken_over(news, state, steps)
    return news


def _taken_over(news: Any, state: Any, steps: list[str]) -> Any:
    if not isinstance(news, dict) or not isinstance(state, dict) or steps[0] not in state:
        return news
    if len(steps) == 1:
        return {**news, steps[0]: state[steps[0]]}
    return {**news, steps[0]: _taken_over(news.get(steps[0]), state[steps[0]], steps[1:])}
