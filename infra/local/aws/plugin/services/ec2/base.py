"""What EC2 objects have in common."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.schema import Failure
from local.aws.plugin.tags import as_pairs


class Ec2Handler(Handler):
    """What EC2 objects have in common: ids, and tags set by id."""

    service = "ec2"
    tagged_at_creation = False

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.delete_tags(Resources=[name], Tags=[{"Key": key} for key in remove])
        if tags:
            client.create_tags(Resources=[name], Tags=as_pairs(tags))

    def first(self, cloud: Cloud, call: str, key: str, **arguments: Any) -> Any:
        """The one object a describe call gives, or None."""
        answer = cloud.found(getattr(self.client(cloud), call), **arguments)
        return answer[key][0] if answer and answer[key] else None


def no_inline(inputs: Properties, names: tuple[str, ...], instead: str) -> list[Failure]:
    """Inline lists fight with resources of their own; the stand-in keeps only the latter."""
    reason = f"the local stand-in has no inline rules or routes. Use {instead}."
    return [Failure(name, reason) for name in names if inputs.get(name)]
