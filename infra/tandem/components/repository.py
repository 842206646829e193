"""A repository for one image."""

from __future__ import annotations

import json

import pulumi
import pulumi_aws as aws


class Repository(pulumi.ComponentResource):
    """An ECR repository whose tags never move.

    Creates: repository, lifecycle policy.
    Cost: by what is stored.
    Replaced by: the name, the key; it is refused while there are images in it.
    """

    url: pulumi.Output[str]
    """Without a tag."""

    def __init__(
        self,
        name: str,
        *,
        repository_name: str,
        kms_key_arn: pulumi.Input[str],
        untagged_days: int,
        disposable: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Images that lost their tag are deleted after `untagged_days`."""
        super().__init__("tandem:storage:Repository", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        repository = aws.ecr.Repository(
            name,
            name=repository_name,
            image_tag_mutability="IMMUTABLE",
            force_delete=disposable,
            encryption_configurations=[
                aws.ecr.RepositoryEncryptionConfigurationArgs(encryption_type="KMS", kms_key=kms_key_arn)
            ],
            image_scanning_configuration=aws.ecr.RepositoryImageScanningConfigurationArgs(scan_on_push=True),
            opts=child,
        )
        rule = {
            "rulePriority": 1,
            "description": "images without a tag",
            "selection": {
                "tagStatus": "untagged",
                "countType": "sinceImagePushed",
                "countUnit": "days",
                "countNumber": untagged_days,
            },
            "action": {"type": "expire"},
        }
        aws.ecr.LifecyclePolicy(
            f"{name}-lifecycle", repository=repository.name, policy=json.dumps({"rules": [rule]}), opts=child
        )
        self.url = repository.repository_url
        self.register_outputs({"url": self.url})
