"""What a row of the matrix says: one resource, and what happens to it at each step of its life."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Inputs = dict[str, Any]
"""By wire name. None takes an input of an earlier step away."""
It = Mapping[str, Any]
"""A made resource: its outputs by wire name, and `id`."""


class Ref(Protocol):
    """An output of an earlier row (its id when none is named), as the engine's program refers to it."""

    def __call__(self, row: str, output: str = "id") -> Any: ...


class Outside(Protocol):
    """Somebody who works on AWS behind the engine's back."""

    def client(self, service: str) -> Any:
        """A boto client."""

    def record(self, kind: str, name: str, **outputs: Any) -> None:
        """Changes what is recorded of a resource that moto lacks."""

    def forget(self, kind: str, name: str) -> None:
        """Takes such a record away."""


Form = Callable[[Ref], Inputs]
STAGES = ("first", "changed", "replaced")
"""The programs of the matrix, each on top of the one before."""


@dataclass(frozen=True)
class Lacks:
    """No resource of the type can take the step, and this is why."""

    reason: str


@dataclass(frozen=True)
class Through:
    """Nothing of its own replaces it but the replacement of this row, to which it belongs for good."""

    row: str


@dataclass(frozen=True)
class Drift:
    """A change from outside, and the operation by which the engine puts it right."""

    act: Callable[[Outside, It], object]
    repair: str = "update"
    """`update`, `replace`, or `create` where the object is gone."""


@dataclass(frozen=True)
class LifeCycle:
    """One resource. None at a step says that another row of the same type takes it."""

    name: str
    kind: str
    first: Form
    changed: Form | Lacks | None = None
    """Inputs that change it in place, on top of `first`."""
    replaced: Form | Through | Lacks | None = None
    """Inputs that replace it, on top of `changed`."""
    drift: Drift | Lacks | None = None
    import_id: Callable[[It], str] | Lacks = lambda it: str(it["id"])
    delete_first: bool = False
    """The program must ask for it, or the replaced resource's deletion would take the new one with it."""

    def inputs(self, ref: Ref, stage: str) -> Inputs:
        """The inputs at a stage."""
        forms = (self.first, self.changed, self.replaced)[: STAGES.index(stage) + 1]
        return {key: value for form in forms if callable(form) for key, value in form(ref).items()}

    @property
    def changes(self) -> bool:
        """Does this row change in place?"""
        return callable(self.changed)

    @property
    def is_replaced(self) -> bool:
        """Is this row replaced?"""
        return callable(self.replaced) or isinstance(self.replaced, Through)


CHANGED_TAGS = {"use": "confidential"}
"""Every change in place is made by secret values; this one is looked for in clear."""


def changed_tags(ref: Ref) -> Inputs:
    """The change in place that every type with tags can take."""
    return {"tags": CHANGED_TAGS}


def tag_drift(service: str = "ec2") -> Drift:
    """A tag that somebody adds, by the service's own call."""
    pair = [{"Key": "drifted", "Value": "yes"}]
    calls: dict[str, Callable[[Any, It], object]] = {
        "ec2": lambda client, it: client.create_tags(Resources=[it["id"]], Tags=pair),
        "eks": lambda client, it: client.tag_resource(resourceArn=it["arn"], tags={"drifted": "yes"}),
        "wafv2": lambda client, it: client.tag_resource(ResourceARN=it["arn"], Tags=pair),
        "acm": lambda client, it: client.add_tags_to_certificate(CertificateArn=it["arn"], Tags=pair),
    }
    return Drift(lambda outside, it: calls[service](outside.client(service), it))


def record_drift(kind: str, **outputs: Any) -> Drift:
    """A change of what is recorded of a type that moto lacks."""
    return Drift(lambda outside, it: outside.record(kind, it["id"], **outputs))
