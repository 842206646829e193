"""The key that encrypts what an environment keeps."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws


class EncryptionKey(pulumi.ComponentResource):
    """A KMS key that is renewed every year, under an alias.

    Creates: key, alias.
    Cost: by the month and by the request.
    Replaced by: nothing that a stack file can say. What it encrypted is lost with it.
    """

    arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        alias: str,
        description: str,
        deletion_days: int,
        protect: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:storage:EncryptionKey", name, {}, opts)
        key = aws.kms.Key(
            name,
            description=description,
            enable_key_rotation=True,
            deletion_window_in_days=deletion_days,
            opts=pulumi.ResourceOptions(parent=self, protect=protect),
        )
        aws.kms.Alias(f"{name}-alias", name=alias, target_key_id=key.key_id, opts=pulumi.ResourceOptions(parent=self))
        self.arn = key.arn
        self.register_outputs({"arn": self.arn})
