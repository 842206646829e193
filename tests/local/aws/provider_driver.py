"""Drives the provider as the engine would, without the engine: one call of the protocol after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from local.aws.plugin.servicer import Provider
from local.aws.plugin.wire import from_struct, plain, to_struct
from pulumi.runtime.proto import provider_pb2 as protocol

UNCHANGED = protocol.DiffResponse.DIFF_NONE


class Aborted(Exception):
    """A call ended in a gRPC error."""


class _Context:
    def abort(self, code: Any, message: str) -> None:
        raise Aborted(message)

    def set_trailing_metadata(self, metadata: Any) -> None:
        self.metadata = metadata


@dataclass
class Resource:
    """A resource as the engine keeps it."""

    kind: str
    name: str
    id: str
    inputs: dict[str, Any]
    state: dict[str, Any]
    program: dict[str, Any] = field(default_factory=dict)
    """What the program gave."""

    @property
    def outputs(self) -> dict[str, Any]:
        found: dict[str, Any] = plain(self.state)
        return found


class Driver:
    """One configured provider."""

    def __init__(self, **configuration: str) -> None:
        self.provider = Provider()
        self.context = _Context()
        arguments = {"region": "us-east-1", "allowedAccountIds": '["123456789012"]', **configuration}
        self.provider.Configure(protocol.ConfigureRequest(args=to_struct(arguments)), self.context)

    @staticmethod
    def urn(kind: str, name: str) -> str:
        return f"urn:pulumi:test::project::{kind}::{name}"

    def failures(self, kind: str, name: str, program: dict[str, Any]) -> dict[str, str]:
        request = protocol.CheckRequest(urn=self.urn(kind, name), news=to_struct(program), randomSeed=b"seed")
        return {f.property: f.reason for f in self.provider.Check(request, self.context).failures}

    def check(
        self, kind: str, name: str, program: dict[str, Any], olds: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        request = protocol.CheckRequest(
            urn=self.urn(kind, name), news=to_struct(program), olds=to_struct(olds or {}), randomSeed=b"seed"
        )
        answer = self.provider.Check(request, self.context)
        assert not answer.failures, f"{kind} {name}: {answer.failures}"
        return from_struct(answer.inputs)

    def create(self, kind: str, name: str, program: dict[str, Any]) -> Resource:
        inputs = self.check(kind, name, program)
        request = protocol.CreateRequest(urn=self.urn(kind, name), properties=to_struct(inputs))
        made = self.provider.Create(request, self.context)
        return Resource(kind, name, made.id, inputs, from_struct(made.properties), program)

    def diff(self, resource: Resource, program: dict[str, Any], ignore: tuple[str, ...] = ()) -> Any:
        inputs = self.check(resource.kind, resource.name, program, resource.inputs)
        request = protocol.DiffRequest(
            urn=self.urn(resource.kind, resource.name),
            id=resource.id,
            olds=to_struct(resource.state),
            old_inputs=to_struct(resource.inputs),
            news=to_struct(inputs),
            ignoreChanges=list(ignore),
        )
        return self.provider.Diff(request, self.context)

    def refresh(self, resource: Resource) -> Resource | None:
        request = protocol.ReadRequest(
            urn=self.urn(resource.kind, resource.name),
            id=resource.id,
            properties=to_struct(resource.state),
            inputs=to_struct(resource.inputs),
        )
        return self._read(request, resource.kind, resource.name)

    def imported(self, kind: str, name: str, import_id: str) -> Resource | None:
        return self._read(protocol.ReadRequest(urn=self.urn(kind, name), id=import_id), kind, name)

    def _read(self, request: Any, kind: str, name: str) -> Resource | None:
        found = self.provider.Read(request, self.context)
        if not found.id:
            return None
        return Resource(kind, name, found.id, from_struct(found.inputs), from_struct(found.properties))

    def update(self, resource: Resource, program: dict[str, Any], ignore: tuple[str, ...] = ()) -> Resource:
        inputs = self.check(resource.kind, resource.name, program, resource.inputs)
        request = protocol.UpdateRequest(
            urn=self.urn(resource.kind, resource.name),
            id=resource.id,
            olds=to_struct(resource.state),
            old_inputs=to_struct(resource.inputs),
            news=to_struct(inputs),
            ignoreChanges=list(ignore),
        )
        made = self.provider.Update(request, self.context)
        return Resource(resource.kind, resource.name, resource.id, inputs, from_struct(made.properties), program)

    def invoke(self, function: str, **arguments: Any) -> Any:
        request = protocol.InvokeRequest(tok=function, args=to_struct(arguments))
        return getattr(self.provider.Invoke(request, self.context), "return")

    def delete(self, resource: Resource) -> None:
        request = protocol.DeleteRequest(
            urn=self.urn(resource.kind, resource.name), id=resource.id, properties=to_struct(resource.state)
        )
        self.provider.Delete(request, self.context)
