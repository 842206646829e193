"""A bucket that an AWS service writes logs to."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.components.policy_document import policy_document


class LogBucket(pulumi.ComponentResource):
    """Logs of one service of this account, deleted after some days.

    Creates: bucket, its encryption, access block, lifecycle and policy.
    Cost: by what is stored.
    Replaced by: the name.
    """

    arn: pulumi.Output[str]
    name: pulumi.Output[str]
    """Known to hold a policy that lets the service write: what logs must wait for it."""

    def __init__(
        self,
        name: str,
        *,
        bucket_name: str,
        writer: str,
        account_id: str,
        retention_days: int,
        disposable: bool,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`writer` is the service's principal, for example `delivery.logs.amazonaws.com`."""
        super().__init__("tandem:storage:LogBucket", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        bucket = aws.s3.Bucket(name, bucket=bucket_name, force_destroy=disposable, opts=child)
        aws.s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption",
            bucket=bucket.id,
            rules=[
                aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    # Load balancers write with the bucket's own key only.
                    apply_server_side_encryption_by_default=aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                        sse_algorithm="AES256"
                    )
                )
            ],
            opts=child,
        )
        block = aws.s3.BucketPublicAccessBlock(
            f"{name}-block",
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=child,
        )
        aws.s3.BucketLifecycleConfiguration(
            f"{name}-lifecycle",
            bucket=bucket.id,
            rules=[
                aws.s3.BucketLifecycleConfigurationRuleArgs(
                    id="expire",
                    status="Enabled",
                    filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
                    expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(days=retention_days),
                )
            ],
            opts=child,
        )
        policy = aws.s3.BucketPolicy(
            f"{name}-policy",
            bucket=bucket.id,
            policy=policy_document(
                {
                    "Sid": "Write",
                    "Effect": "Allow",
                    "Principal": {"Service": writer},
                    "Action": "s3:PutObject",
                    "Resource": pulumi.Output.concat(bucket.arn, "/AWSLogs/", account_id, "/*"),
                    "Condition": {"StringEquals": {"aws:SourceAccount": account_id}},
                },
                {
                    "Sid": "Look",
                    "Effect": "Allow",
                    "Principal": {"Service": writer},
                    "Action": "s3:GetBucketAcl",
                    "Resource": bucket.arn,
                    "Condition": {"StringEquals": {"aws:SourceAccount": account_id}},
                },
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[block]),
        )
        self.arn = pulumi.Output.all(bucket.arn, policy.id).apply(lambda values: str(values[0]))
        self.name = pulumi.Output.all(bucket.bucket, policy.id).apply(lambda values: str(values[0]))
        self.register_outputs({"arn": self.arn})
