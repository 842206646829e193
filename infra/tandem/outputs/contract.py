"""How a stack tells others what it made: one typed, versioned value under the stack's kind.

`export` writes it, `read` gives it to another stack's program, `parse` to a command. A stack that was not applied
yet, or that another release of Tandem applied, is refused with the command that mends it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, TypeVar

import pulumi
from pydantic import BaseModel, ConfigDict, ValidationError

from tandem.errors import Fault, PlanError


class Contract(BaseModel):
    """What one kind of stack gives to others. Never holds a secret: only names and ARNs of secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    KIND: ClassVar[str]
    VERSION: ClassVar[int]
    """Raised whenever a field is added, removed or means something else."""

    version: int


C = TypeVar("C", bound=Contract)

READ_OUTPUTS: Final = "pulumi:pulumi:readStackOutputs"
"""What a stack reference asks the engine; asked directly, the answer is a value and a failure can be told in our words."""
UNKNOWN_STACK: Final = "unknown stack"
"""How the engine says that a backend has no such stack."""


class NotApplied(PlanError):
    """The stack that is read has no outputs yet."""


def export(model: type[Contract], **fields: Any) -> None:
    """Exports the stack's contract. Each field is a value or an Output, also inside lists and dicts."""
    unknown = fields.keys() ^ (model.model_fields.keys() - {"version"})
    if unknown:
        raise TypeError(f"{model.__name__}: fields given and fields declared differ in {', '.join(sorted(unknown))}")
    values = pulumi.Output.from_input({**fields, "version": model.VERSION})
    pulumi.export(model.KIND, values.apply(lambda given: model.model_validate(given).model_dump(mode="json")))


def parse(model: type[C], stack: str, outputs: Mapping[str, Any]) -> C:
    """The contract among a stack's outputs.

    Raises `NotApplied` where the stack has none, and `PlanError` where another release of Tandem applied it.
    """
    value = outputs.get(model.KIND)
    if not isinstance(value, Mapping):
        kinds = ", ".join(sorted(outputs)) or "nothing"
        rule = f"the stack must give {model.KIND} outputs: it was not applied yet"
        raise NotApplied([Fault(stack, f"gives {kinds}", rule, f"Run: pulumi up -s {stack}")])
    version = value.get("version")
    if version != model.VERSION:
        rule = f"its {model.KIND} outputs are of another release of Tandem; this one reads version {model.VERSION}"
        raise PlanError([Fault(stack, f"version {version}", rule, f"Apply it with this release: pulumi up -s {stack}")])
    try:
        return model.model_validate(value)
    except ValidationError as error:
        reason = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        rule = f"its {model.KIND} outputs do not have the shape of version {model.VERSION} ({reason})"
        raise PlanError([Fault(stack, "", rule, f"Apply it with this release: pulumi up -s {stack}")]) from error


def read(model: type[C], stack: str) -> C:
    """The contract of another stack, as a plain value that a plan can be made from.

    The engine reads it from the other stack's state, so it is known in previews too. Raises `NotApplied` where there is no
    such stack or it has no outputs, and `PlanError` as `parse` does.
    """
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{stack}"
    try:
        found = pulumi.runtime.invoke(READ_OUTPUTS, {"name": name}).value
    except Exception as error:
        # The SDK has no type of its own for what an invoke failed with.
        if UNKNOWN_STACK not in str(error):
            raise
        rule = "there is no such stack in this backend: it was not applied yet"
        raise NotApplied([Fault(stack, "", rule, f"Run: pulumi up -s {stack}")]) from error
    return parse(model, stack, found.get("outputs") or {})
