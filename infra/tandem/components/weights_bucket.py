"""The bucket of checkpoints."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.components.policy_document import policy_document
from tandem.plan.registry import RegistryPlan


class WeightsBucket(pulumi.ComponentResource):
    """Checkpoints: versioned, encrypted with the environment's key, closed to the public, over TLS only.

    Creates: bucket and its versioning, encryption, access block, ownership, lifecycle and policy.
    Cost: by what is stored.
    Replaced by: the name, and it is refused while there are checkpoints in it.
    """

    name: pulumi.Output[str]
    arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        plan: RegistryPlan,
        *,
        kms_key_arn: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:storage:WeightsBucket", name, {}, opts)
        self._logical = name
        self._child = pulumi.ResourceOptions(parent=self)
        bucket = aws.s3.Bucket(
            name,
            bucket=plan.weights_bucket,
            force_destroy=plan.disposable,
            opts=pulumi.ResourceOptions(parent=self, protect=not plan.disposable),
        )
        self.name, self.arn = bucket.bucket, bucket.arn
        versioning = aws.s3.BucketVersioning(
            f"{name}-versioning",
            bucket=bucket.id,
            versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
            opts=self._child,
        )
        self._encrypt(bucket, kms_key_arn)
        block = self._close(bucket)
        self._clean(bucket, plan, versioning)
        if plan.require_tls:
            self._require_tls(bucket, block)
        self.register_outputs({"name": self.name})

    def _encrypt(self, bucket: aws.s3.Bucket, key: pulumi.Input[str]) -> None:
        aws.s3.BucketServerSideEncryptionConfiguration(
            f"{self._logical}-encryption",
            bucket=bucket.id,
            rules=[
                aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    # One key request for many objects: a checkpoint is read by every node at once.
                    bucket_key_enabled=True,
                    apply_server_side_encryption_by_default=aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
                        sse_algorithm="aws:kms", kms_master_key_id=key
                    ),
                )
            ],
            opts=self._child,
        )

    def _close(self, bucket: aws.s3.Bucket) -> aws.s3.BucketPublicAccessBlock:
        aws.s3.BucketOwnershipControls(
            f"{self._logical}-ownership",
            bucket=bucket.id,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=self._child,
        )
        return aws.s3.BucketPublicAccessBlock(
            f"{self._logical}-block",
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=self._child,
        )

    def _clean(self, bucket: aws.s3.Bucket, plan: RegistryPlan, versioning: aws.s3.BucketVersioning) -> None:
        old = aws.s3.BucketLifecycleConfigurationRuleNoncurrentVersionExpirationArgs(
            noncurrent_days=plan.old_versions_days
        )
        uploads = aws.s3.BucketLifecycleConfigurationRuleAbortIncompleteMultipartUploadArgs(
            days_after_initiation=plan.upload_days
        )
        aws.s3.BucketLifecycleConfiguration(
            f"{self._logical}-lifecycle",
            bucket=bucket.id,
            rules=[
                aws.s3.BucketLifecycleConfigurationRuleArgs(
                    id="clean",
                    status="Enabled",
                    filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
                    noncurrent_version_expiration=old,
                    abort_incomplete_multipart_upload=uploads,
                )
            ],
            opts=pulumi.ResourceOptions(parent=self, depends_on=[versioning]),
        )

    def _require_tls(self, bucket: aws.s3.Bucket, block: aws.s3.BucketPublicAccessBlock) -> None:
        aws.s3.BucketPolicy(
            f"{self._logical}-policy",
            bucket=bucket.id,
            policy=policy_document(
                {
                    "Sid": "TlsOnly",
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": [bucket.arn, pulumi.Output.concat(bucket.arn, "/*")],
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            ),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[block]),
        )
