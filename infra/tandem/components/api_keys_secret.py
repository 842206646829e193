"""The secret that holds the gateway's API keys."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws


class ApiKeysSecret(pulumi.ComponentResource):
    """A secret without a value: `tandem secrets put` gives it one, and no stack ever holds it.

    Creates: secret.
    Cost: by the month and by the request.
    Replaced by: the name.
    """

    arn: pulumi.Output[str]
    secret_name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        *,
        secret_name: str,
        kms_key_arn: pulumi.Input[str],
        recovery_days: int,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:storage:ApiKeysSecret", name, {}, opts)
        secret = aws.secretsmanager.Secret(
            name,
            name=secret_name,
            description="API keys of the gateway: api_key for clients, admin_api_key for operators",
            kms_key_id=kms_key_arn,
            recovery_window_in_days=recovery_days,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.arn, self.secret_name = secret.arn, secret.name
        self.register_outputs({"arn": self.arn})
