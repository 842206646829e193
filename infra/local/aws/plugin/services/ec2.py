"""What all EC2 types share: tags at creation, tags afterwards, and looking one object up by its id."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.services.tags import listed, mapped


def specification(kind: str, inputs: Properties) -> dict[str, Any]:
    """The argument that tags an object of `kind` as it is created; nothing when there are no tags."""
    tags = inputs.get("tagsAll")
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": listed(tags)}]} if tags else {}


def given(inputs: Properties, names: dict[str, str]) -> dict[str, Any]:
    """API arguments from inputs: API name -> wire name; what was not given is left out."""
    return {api: inputs[wire] for api, wire in names.items() if inputs.get(wire) not in (None, "", [])}


def read_tags(found: Any) -> dict[str, str]:
    return mapped(found.get("Tags"))


class Ec2Handler(Handler):
    """An EC2 object whose id is what tags are set on."""

    service = "ec2"

    def tagged(self, name: str, state: Properties) -> str:
        return name

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client, target = self.client(cloud), self.tagged(name, state)
        if remove:
            client.delete_tags(Resources=[target], Tags=[{"Key": key} for key in remove])
        if tags:
            client.create_tags(Resources=[target], Tags=listed(tags))

    def one(self, cloud: Cloud, operation: str, answer: str, **arguments: Any) -> Any:
        """The only element of a describe call, or None when there is none."""
        found = cloud.found(getattr(self.client(cloud), operation), **arguments)
        return found[answer][0] if found and found[answer] else None
