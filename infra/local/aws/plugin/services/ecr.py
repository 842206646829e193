"""ECR repositories."""

from __future__ import annotations

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import as_pairs, from_pairs


class Repository(Handler):
    type = "aws:ecr/repository:Repository"
    service = "ecr"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments = {}
        encryption = (inputs.get("encryptionConfigurations") or [None])[0]
        if encryption:
            kind = {"encryptionType": encryption.get("encryptionType") or "AES256"}
            key = {"kmsKey": encryption["kmsKey"]} if encryption.get("kmsKey") else {}
            arguments["encryptionConfiguration"] = {**kind, **key}
        self.client(cloud).create_repository(
            repositoryName=inputs["name"],
            imageTagMutability=inputs.get("imageTagMutability") or "MUTABLE",
            imageScanningConfiguration={"scanOnPush": _scans(inputs)},
            tags=as_pairs(inputs.get("tagsAll")),
            **arguments,
        )
        return str(inputs["name"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "imageTagMutability" in changed:
            mutability = inputs.get("imageTagMutability") or "MUTABLE"
            client.put_image_tag_mutability(repositoryName=name, imageTagMutability=mutability)
        if "imageScanningConfiguration" in changed:
            scanning = {"scanOnPush": _scans(inputs)}
            client.put_image_scanning_configuration(repositoryName=name, imageScanningConfiguration=scanning)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        if remove:
            self.client(cloud).untag_resource(resourceArn=state["arn"], tagKeys=remove)
        self.client(cloud).tag_resource(resourceArn=state["arn"], tags=as_pairs(tags))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        answer = cloud.found(client.describe_repositories, repositoryNames=[name])
        if answer is None:
            return None
        found = answer["repositories"][0]
        encryption = found.get("encryptionConfiguration") or {}
        own_key = encryption.get("encryptionType") == "KMS"
        blocks = [{"encryptionType": "KMS", "kmsKey": encryption.get("kmsKey", "")}] if own_key else []
        return {
            "arn": found["repositoryArn"],
            "name": name,
            "repositoryUrl": found["repositoryUri"],
            "registryId": found["registryId"],
            "imageTagMutability": found["imageTagMutability"],
            "imageScanningConfiguration": {"scanOnPush": found["imageScanningConfiguration"]["scanOnPush"]},
            # AWS's own key is what a repository has where nothing was asked for.
            "encryptionConfigurations": blocks or known.get("encryptionConfigurations"),
            "tagsAll": from_pairs(client.list_tags_for_resource(resourceArn=found["repositoryArn"])["tags"]),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        force = bool(state.get("forceDelete"))
        cloud.until_free(self.client(cloud).delete_repository, repositoryName=name, force=force)


def _scans(inputs: Properties) -> bool:
    return bool((inputs.get("imageScanningConfiguration") or {}).get("scanOnPush"))


class LifecyclePolicy(Handler):
    type = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
    service = "ecr"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.client(cloud).put_lifecycle_policy(
            repositoryName=inputs["repository"], lifecyclePolicyText=inputs["policy"]
        )
        return str(inputs["repository"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.create(cloud, inputs)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).get_lifecycle_policy, repositoryName=name)
        if answer is None:
            return None
        return {"repository": name, "policy": answer["lifecyclePolicyText"], "registryId": answer["registryId"]}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_lifecycle_policy, repositoryName=name)
