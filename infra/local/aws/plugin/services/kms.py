"""KMS keys and aliases."""

from __future__ import annotations

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import from_pairs


class Key(Handler):
    type = "aws:kms/key:Key"
    service = "kms"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        policy = {"Policy": inputs["policy"]} if inputs.get("policy") else {}
        made = self.client(cloud).create_key(
            Description=inputs.get("description") or "",
            KeyUsage=inputs.get("keyUsage") or "ENCRYPT_DECRYPT",
            KeySpec=inputs.get("customerMasterKeySpec") or "SYMMETRIC_DEFAULT",
            MultiRegion=bool(inputs.get("multiRegion")),
            Tags=[{"TagKey": k, "TagValue": v} for k, v in (inputs.get("tagsAll") or {}).items()],
            **policy,
        )
        return str(made["KeyMetadata"]["KeyId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        # As a new key is; what the program says otherwise is set.
        new = {"enableKeyRotation": False, "isEnabled": True}
        self.update(cloud, name, {}, inputs, frozenset(key for key in new if inputs.get(key) not in (None, new[key])))

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "description" in changed:
            client.update_key_description(KeyId=name, Description=inputs.get("description") or "")
        if "policy" in changed:
            client.put_key_policy(KeyId=name, PolicyName="default", Policy=inputs["policy"])
        if "enableKeyRotation" in changed:
            (client.enable_key_rotation if inputs.get("enableKeyRotation") else client.disable_key_rotation)(KeyId=name)
        if "isEnabled" in changed:
            (client.enable_key if inputs.get("isEnabled") else client.disable_key)(KeyId=name)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        if remove:
            self.client(cloud).untag_resource(KeyId=name, TagKeys=remove)
        self.client(cloud).tag_resource(KeyId=name, Tags=[{"TagKey": k, "TagValue": v} for k, v in tags.items()])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        answer = cloud.found(client.describe_key, KeyId=name)
        if answer is None or answer["KeyMetadata"]["KeyState"] == "PendingDeletion":
            return None
        key = answer["KeyMetadata"]
        return {
            "arn": key["Arn"],
            "keyId": key["KeyId"],
            "description": key["Description"],
            "keyUsage": key["KeyUsage"],
            "isEnabled": key["Enabled"],
            "multiRegion": key.get("MultiRegion", False),
            "customerMasterKeySpec": key.get("CustomerMasterKeySpec", "SYMMETRIC_DEFAULT"),
            "enableKeyRotation": client.get_key_rotation_status(KeyId=name)["KeyRotationEnabled"],
            "policy": client.get_key_policy(KeyId=name, PolicyName="default")["Policy"],
            "tagsAll": from_pairs(client.list_resource_tags(KeyId=name)["Tags"]),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        days = int(state.get("deletionWindowInDays") or 30)
        cloud.until_free(self.client(cloud).schedule_key_deletion, KeyId=name, PendingWindowInDays=days)


class Alias(Handler):
    type = "aws:kms/alias:Alias"
    service = "kms"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.client(cloud).create_alias(AliasName=inputs["name"], TargetKeyId=inputs["targetKeyId"])
        return str(inputs["name"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.client(cloud).update_alias(AliasName=name, TargetKeyId=inputs["targetKeyId"])

    def unknown_after(self, inputs: Properties, changed: frozenset[str]) -> frozenset[str]:
        return frozenset({"targetKeyArn"}) if "targetKeyId" in changed else frozenset()

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = next((a for a in self.client(cloud).list_aliases()["Aliases"] if a["AliasName"] == name), None)
        if found is None:
            return None
        key = found["TargetKeyId"]
        return {
            "arn": found["AliasArn"],
            "name": name,
            "targetKeyId": key,
            "targetKeyArn": cloud.arn("kms", f"key/{key}"),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_alias, AliasName=name)
