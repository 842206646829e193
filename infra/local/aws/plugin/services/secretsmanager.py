"""Secrets Manager."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import as_pairs, from_pairs


class Secret(Handler):
    type = "aws:secretsmanager/secret:Secret"
    service = "secretsmanager"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        key = {"KmsKeyId": inputs["kmsKeyId"]} if inputs.get("kmsKeyId") else {}
        made = self.client(cloud).create_secret(
            Name=inputs["name"],
            Description=inputs.get("description") or "",
            Tags=as_pairs(inputs.get("tagsAll")),
            **key,
        )
        return str(made["ARN"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        key = {"KmsKeyId": inputs["kmsKeyId"]} if inputs.get("kmsKeyId") else {}
        self.client(cloud).update_secret(SecretId=name, Description=inputs.get("description") or "", **key)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        if remove:
            self.client(cloud).untag_resource(SecretId=name, TagKeys=remove)
        self.client(cloud).tag_resource(SecretId=name, Tags=as_pairs(tags))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = cloud.found(self.client(cloud).describe_secret, SecretId=name)
        if found is None or found.get("DeletedDate"):
            return None
        return {
            "arn": found["ARN"],
            "name": found["Name"],
            "description": found.get("Description", ""),
            "kmsKeyId": found.get("KmsKeyId", ""),
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        days = state.get("recoveryWindowInDays")
        how: dict[str, Any] = {"ForceDeleteWithoutRecovery": True}
        if days:
            how = {"RecoveryWindowInDays": int(days)}
        cloud.until_free(self.client(cloud).delete_secret, SecretId=name, **how)
