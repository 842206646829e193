"""What a resource type must tell the stand-in. The servicer does the rest: checks, tags, diffs, previews, secrets."""

from __future__ import annotations

from typing import Any, ClassVar

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.schema import Failure

Properties = dict[str, Any]
"""Resource properties by wire name, without secret marks."""


class Handler:
    """Life cycle of one resource type. Properties are wire names; `tagsAll` in inputs holds all tags to set."""

    type: ClassVar[str]
    """Pulumi token, for example `aws:ec2/vpc:Vpc`."""
    service: ClassVar[str]
    """botocore name of the service."""
    ordered: ClassVar[frozenset[str]] = frozenset()
    """Lists whose order counts."""
    tagged_at_creation: ClassVar[bool] = True
    """Does `create` set the tags? If not, they are set once the object exists."""

    def client(self, cloud: Cloud) -> Any:
        return cloud.client(self.service)

    def prepare(self, inputs: Properties) -> Properties:
        """Inputs in the form AWS keeps them (called at check; values may be unknown)."""
        return inputs

    def check(self, inputs: Properties) -> list[Failure]:
        """Faults that types alone do not show."""
        return []

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        """Make the object and give its id as soon as it exists."""
        raise NotImplementedError

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        """What follows creation. A failure here leaves a resource that exists and is not finished."""

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        """The object as it is, or None when it is gone.

        An input with an empty value says that the object has none. One left out says that moto does not keep it: it is
        recorded beside moto, so that a refresh or an import does not lose it. Outputs left out stay as they are `known`.
        """
        raise NotImplementedError

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        """Change in place. `changed` names the inputs that differ (never tags)."""

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        """Make the object carry `tags`; `remove` are keys it has too many."""
        raise NotImplementedError(f"{self.type}: tags cannot be changed")

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        raise NotImplementedError

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        """The id and what is already known from an import id. They differ for few types."""
        return name, {}

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        """Paths (without indices) whose replacement depends on values: True replaces, False does not."""
        return {}

    def unknown_after(self, inputs: Properties, changed: frozenset[str]) -> frozenset[str]:
        """Computed outputs that an update with these changes makes unknown in its preview."""
        return frozenset()

    def preview(self, outputs: Properties) -> Properties:
        """Outputs of a creation's preview, with what can be foretold or must be unknown inside blocks."""
        return outputs


class RecordedHandler(Handler):
    """A type that moto lacks: kept as asked for in the local cloud's store, and said to be simulated."""

    service = "none"
    simulated: ClassVar[str]
    """Why. Shown in the output `__simulated`."""

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        """The id, from the inputs."""
        raise NotImplementedError

    def outputs(self, cloud: Cloud, name: str, inputs: Properties) -> Properties:
        """Computed outputs that follow from names alone; nothing that only real hardware could tell."""
        return {}

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        name = self.identity(cloud, inputs)
        if cloud.recorded(self.type, name) is not None:
            raise AlreadyExists(f"{name} already exists (recorded)")
        cloud.record(self.type, name, {**_kept(inputs), **self.outputs(cloud, name, inputs)}, whole=True)
        return name

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        record = cloud.recorded(self.type, name)
        if record is None:
            return None
        outputs: Properties = record["outputs"]
        return {**outputs, "__simulated": self.simulated}

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        record = cloud.recorded(self.type, name) or {"outputs": {}}
        kept = {key: value for key, value in record["outputs"].items() if key not in changed}
        cloud.record(self.type, name, {**kept, **_kept(inputs)}, whole=True)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        record = cloud.recorded(self.type, name) or {"outputs": {}}
        cloud.record(self.type, name, {**record["outputs"], "tagsAll": tags}, whole=True)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.forget(self.type, name)


class AlreadyExists(Exception):
    """Something of that name is there."""


def _kept(inputs: Properties) -> Properties:
    return {key: value for key, value in inputs.items() if not key.startswith("__") and key not in ("tags", "region")}
