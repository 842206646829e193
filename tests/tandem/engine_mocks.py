"""A stand-in for the Pulumi engine: records what a program declares, answers only the reads that a test prepared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest
from pulumi.runtime import MockCallArgs, MockResourceArgs, Mocks, set_mocks
from tandem.graph import computed
from tandem.outputs import contract


@dataclass(frozen=True)
class Declared:
    """One resource as the program declared it."""

    type: str
    name: str
    inputs: Mapping[str, Any]
    provider: str


@dataclass
class Recorder(Mocks):
    """Records registrations. An invoke, or a read of a stack that was not prepared, is an error."""

    stacks: Mapping[str, Mapping[str, Any]]
    """Stack -> its outputs."""
    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Function -> what the cloud answers."""
    declared: list[Declared] = field(default_factory=list)

    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.declared.append(Declared(args.typ, args.name, args.inputs, args.provider))
        return f"{args.name}-id", {**args.inputs, **computed.outputs(args.typ, args.name, args.inputs)}

    def call(self, args: MockCallArgs) -> dict[str, Any]:
        if args.token == contract.READ_OUTPUTS:
            stack = args.args["name"].rsplit("/", 1)[-1]
            if stack not in self.stacks:
                raise AssertionError(f"the program reads {stack}, which the test did not prepare")
            return {"name": args.args["name"], "outputs": self.stacks[stack]}
        if args.token in self.answers:
            return {**args.args, **self.answers[args.token]}
        raise AssertionError(f"the program asks the cloud for {args.token}; the plan should have known")


@dataclass(frozen=True)
class Built:
    """A program, run."""

    declared: tuple[Declared, ...]
    exported: Mapping[str, Any]

    def of(self, kind: str) -> list[Declared]:
        """The cloud's resources whose type ends with `kind`, for example `ec2/subnet:Subnet`; no components."""
        return [r for r in self.declared if r.type.endswith(kind) and not r.type.startswith("tandem:")]

    def one(self, kind: str) -> Declared:
        """The only resource of the type."""
        (found,) = self.of(kind)
        return found


def run_program(
    monkeypatch: pytest.MonkeyPatch,
    stack: str,
    build: Callable[[], None],
    *,
    reads: Mapping[str, Mapping[str, Any]] | None = None,
    answers: Mapping[str, Mapping[str, Any]] | None = None,
) -> Built:
    """Runs `build` as the program of `stack`, and waits until all that it declared is registered."""
    recorder = Recorder(reads or {}, answers or {})
    # The runtime wants a current event loop; tests of coroutines elsewhere close theirs and leave none.
    asyncio.set_event_loop(asyncio.new_event_loop())
    set_mocks(recorder, project="tandem", stack=stack, preview=False)
    exported: dict[str, Any] = {}
    outputs: dict[str, pulumi.Output[Any]] = {}
    monkeypatch.setattr(contract.pulumi, "export", lambda name, value: outputs.update({name: value}))

    @pulumi.runtime.test
    def program() -> pulumi.Output[Any]:
        build()
        return pulumi.Output.all(**outputs).apply(exported.update)

    program()
    return Built(tuple(recorder.declared), exported)
