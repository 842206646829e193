"""CloudWatch log groups."""

from __future__ import annotations

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties


class LogGroup(Handler):
    type = "aws:cloudwatch/logGroup:LogGroup"
    service = "logs"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        key = {"kmsKeyId": inputs["kmsKeyId"]} if inputs.get("kmsKeyId") else {}
        self.client(cloud).create_log_group(logGroupName=inputs["name"], tags=inputs.get("tagsAll") or {}, **key)
        return str(inputs["name"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        self.update(cloud, name, {}, inputs, frozenset({"retentionInDays"}))

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "retentionInDays" in changed:
            if inputs.get("retentionInDays"):
                client.put_retention_policy(logGroupName=name, retentionInDays=int(inputs["retentionInDays"]))
            elif state.get("retentionInDays"):
                client.delete_retention_policy(logGroupName=name)
        if "kmsKeyId" in changed:
            if inputs.get("kmsKeyId"):
                client.associate_kms_key(logGroupName=name, kmsKeyId=inputs["kmsKeyId"])
            else:
                client.disassociate_kms_key(logGroupName=name)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.untag_resource(resourceArn=state["arn"], tagKeys=remove)
        client.tag_resource(resourceArn=state["arn"], tags=tags)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        listed = client.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        found = next((group for group in listed if group["logGroupName"] == name), None)
        if found is None:
            return None
        arn = found["arn"].removesuffix(":*")
        return {
            "arn": arn,
            "name": name,
            "retentionInDays": found.get("retentionInDays", 0),
            "kmsKeyId": found.get("kmsKeyId", ""),
            "tagsAll": client.list_tags_for_resource(resourceArn=arn)["tags"],
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_log_group, logGroupName=name)
