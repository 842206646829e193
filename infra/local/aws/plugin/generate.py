"""`python -m local.aws.plugin.generate`: writes schema.json and behaviour.json.

The names and types of inputs are read from the installed `pulumi_aws` itself, once, into a file: importing the SDK costs
a second and 100 MB in every preview, reading the file a few milliseconds. A test compares the file with the SDK.

`behaviour.json` is the project's table of how each type decides between update and replacement, reduced to what the
stand-in reads; `--facts FILE` rewrites it from the full table.
"""

from __future__ import annotations

import argparse
import collections.abc
import importlib
import inspect
import json
import typing
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCHEMA = HERE / "schema.json"
BEHAVIOUR = HERE / "behaviour.json"
_KEPT_FACTS = (
    *("required", "force_new", "computed", "optional_computed", "optional_computed_nested", "defaults", "sensitive"),
    *("autoname", "delete_before_replace", "regional", "id"),
)
_SCALARS: dict[Any, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def behaviour(facts: dict[str, Any]) -> dict[str, Any]:
    """The part of the full table that the stand-in reads."""
    resources = {}
    for token, facts_of_type in sorted(facts["resources"].items()):
        resources[token] = {key: facts_of_type[key] for key in _KEPT_FACTS if facts_of_type.get(key)}
    return {"date": facts["_about"]["date"], "resources": resources}


class _Reader:
    """Collects the nested types that were met on the way."""

    def __init__(self) -> None:
        self.types: dict[str, dict[str, Any]] = {}

    def properties(self, args: type) -> dict[str, Any]:
        """Wire name -> {"type", "required"} of an SDK args class."""
        required = {
            name
            for name, parameter in inspect.signature(args.__init__).parameters.items()  # type: ignore[misc]
            if parameter.default is inspect.Parameter.empty
        }
        found = {}
        for name, member in inspect.getmembers(args, lambda value: isinstance(value, property)):
            wire = getattr(member.fget, "_pulumi_name", name)
            # `pulumi.Input` holds the forward reference `Output[T]`, which only its own module can resolve.
            names = vars(importlib.import_module("pulumi.output"))
            hint = typing.get_type_hints(member.fget, localns={"Output": names["Output"], "T": names["T"]})["return"]
            found[wire] = {"type": self.expression(hint)}
            if name in required:
                found[wire]["required"] = True
        return dict(sorted(found.items()))

    def expression(self, hint: Any) -> Any:
        """A type as "string", ["list", T], ["map", T], "#Name" of a nested type, or "any" for documents."""
        if hint in _SCALARS:
            return _SCALARS[hint]
        origin, arguments = typing.get_origin(hint), typing.get_args(hint)
        if origin in (list, collections.abc.Sequence):
            return ["list", self.expression(arguments[0])]
        if origin in (dict, collections.abc.Mapping):
            return ["map", self.expression(arguments[1])]
        if origin is not None and arguments:
            found = [self.expression(argument) for argument in arguments if self._is_plain(argument)]
            unique = [value for index, value in enumerate(found) if value not in found[:index]]
            return unique[0] if len(unique) == 1 else "any"
        if inspect.isclass(hint) and getattr(hint, "_pulumi_input_type", None) is not None:
            return self._nested(hint)
        if inspect.isclass(hint) and issubclass(hint, str):
            return "string"
        return "any"

    def _nested(self, hint: type) -> str:
        module = hint.__module__.removeprefix("pulumi_aws.").removesuffix("._inputs")
        name = f"{module}/{hint.__name__.removesuffix('Args')}"
        if name not in self.types:
            self.types[name] = {}
            self.types[name] = self.properties(hint)
        return f"#{name}"

    @staticmethod
    def _is_plain(argument: Any) -> bool:
        """Neither None nor one of the wrappers that `pulumi.Input` adds."""
        origin = typing.get_origin(argument) or argument
        return argument is not type(None) and getattr(origin, "__name__", "") not in ("Awaitable", "Output")


def schema(tokens: collections.abc.Iterable[str], classes: dict[str, str]) -> dict[str, Any]:
    """Inputs of each type and the nested types they use. `classes` maps a token to `pulumi_aws.<module>.<Class>`."""
    reader = _Reader()
    resources = {}
    for token in tokens:
        module_name, _, class_name = classes[token].rpartition(".")
        resource = getattr(importlib.import_module(module_name), class_name)
        own = importlib.import_module(resource.__module__)
        # Where a nested type has the plain name already, the SDK calls the resource's own arguments `...InitArgs`.
        args = getattr(own, f"{class_name}InitArgs", None) or getattr(own, f"{class_name}Args")
        resources[token] = reader.properties(args)
    provider = importlib.import_module("pulumi_aws.provider").ProviderArgs
    return {
        "sdk": importlib.import_module("importlib.metadata").version("pulumi-aws"),
        "provider": reader.properties(provider),
        "resources": resources,
        "types": dict(sorted(reader.types.items())),
    }


def class_of(token: str) -> str:
    """`aws:ec2/vpc:Vpc` -> `pulumi_aws.ec2.Vpc`."""
    _, module, name = token.split(":")
    return f"pulumi_aws.{module.partition('/')[0]}.{name}"


def current_schema() -> dict[str, Any]:
    """The schema as the installed SDK has it."""
    tokens = sorted(json.loads(BEHAVIOUR.read_text())["resources"])
    return schema(tokens, {token: class_of(token) for token in tokens})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=Path, help="the full table of resource behaviour, to rewrite behaviour.json")
    options = parser.parse_args()
    if options.facts is not None:
        table = behaviour(json.loads(options.facts.read_text()))
        BEHAVIOUR.write_text(json.dumps(table, indent=1) + "\n")
    SCHEMA.write_text(json.dumps(current_schema(), indent=1) + "\n")


if __name__ == "__main__":
    main()
