"""Runs one stack's program and records what it declares, in a canonical form."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from google.protobuf import json_format
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks, rpc, set_mocks
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import get_root_resource, set_root_resource

from tandem.config.stack import Stack
from tandem.graph import computed
from tandem.outputs import contract
from tandem.plan.impact import Resource

SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
"""The key by which the engine's wire format marks a value that is more than JSON; here only secrets are."""


UNKNOWN: Final = "[unknown]"
"""An input that only AWS can give."""


@dataclass(frozen=True)
class Recorded:
    """A program, run."""

    resources: tuple[Resource, ...]
    """By URN."""
    exported: Mapping[str, Any]
    """The stack's outputs, for programs that read them."""


def environment(stacks: Mapping[str, Stack], *, unknown: bool = False) -> dict[str, Recorded]:
    """The programs of all stacks, which stand in dependency order; each reads what those before it export.

    `unknown`: each as in the preview that comes before it is first applied, when AWS has not chosen anything of it yet.
    """
    done: dict[str, Recorded] = {}
    previewed: dict[str, Recorded] = {}
    for name, stack in stacks.items():
        reads = {used: done[used].exported for used in stack.uses.values()}
        done[name] = program(name, stack, reads)
        if unknown:
            previewed[name] = program(name, stack, reads, unknown=True)
    return previewed if unknown else done


def program(name: str, stack: Stack, reads: Mapping[str, Mapping[str, Any]], *, unknown: bool = False) -> Recorded:
    """One stack's program. `reads` are the outputs of the stacks that it uses; `unknown`: it knows nothing that AWS chooses."""
    build: Callable[[Stack], None] = importlib.import_module(f"tandem.programs.{stack.kind}").build
    mocks = _Engine(reads, unknown)
    monitor = _Monitor(mocks)
    asyncio.set_event_loop(asyncio.new_event_loop())
    set_root_resource(None)  # type: ignore[arg-type]  # that of a program that ran before
    set_mocks(mocks, project="tandem", stack=name, preview=unknown, monitor=monitor)
    exported: dict[str, Any] = {}

    def run() -> pulumi.Output[Any]:
        build(stack)
        outputs = getattr(get_root_resource(), "outputs", {})
        return pulumi.Output.all(**outputs).apply(exported.update)

    pulumi.runtime.test(run)()  # type: ignore[no-untyped-call]
    return Recorded(tuple(sorted(monitor.recorded, key=lambda resource: resource.urn)), exported)


class _Engine(Mocks):
    """Answers as the engine and AWS would."""

    def __init__(self, reads: Mapping[str, Mapping[str, Any]], unknown: bool) -> None:
        self._reads = reads
        self._unknown = unknown

    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if self._unknown:
            # An output that the answer leaves out is unknown to a preview, and so is an empty id.
            return "", {key: value for key, value in args.inputs.items() if value is not None}
        return f"{args.name}-id", {**args.inputs, **computed.outputs(args.typ, args.name, args.inputs)}

    def call(self, args: MockCallArgs) -> dict[str, Any]:  # type: ignore[override]  # the SDK takes either form
        if args.token == contract.READ_OUTPUTS:
            return {"name": args.args["name"], "outputs": self._reads[args.args["name"].rsplit("/", 1)[-1]]}
        return {**args.args, **computed.ANSWERS[args.token]}


class _Monitor(MockMonitor):
    """Keeps what the mocks are not told: parents, dependencies, options."""

    def __init__(self, mocks: Mocks) -> None:
        super().__init__(mocks)
        self.recorded: list[Resource] = []

    def RegisterResource(self, request: Any) -> Any:
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != "pulumi:pulumi:Stack":
            feeds = {name: sorted(of.urns) for name, of in request.propertyDependencies.items() if of.urns}
            self.recorded.append(
                Resource(
                    urn=response.urn,
                    type=request.type,
                    parent=request.parent,
                    dependencies=tuple(sorted(request.dependencies)),
                    fed_by={name: tuple(urns) for name, urns in sorted(feeds.items())},
                    inputs=_plain(json_format.MessageToDict(request.object)),
                    known_as=(response.id, computed.arn(request.name)) if request.custom else (),
                    ignored=tuple(sorted(request.ignoreChanges)),
                )
            )
        return response


def _plain(value: Any) -> Any:
    """As JSON, with numbers in one form and without what is secret."""
    if isinstance(value, dict):
        if SIGNATURE in value:
            return "[secret]"
        return {key: _plain(value[key]) for key in sorted(value)}
    if value == rpc.UNKNOWN:
        return UNKNOWN
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
