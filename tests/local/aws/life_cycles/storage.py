"""Buckets and flow logs in them, image repositories, logs and budgets."""

from __future__ import annotations

from typing import Any

from tests.local.aws.life_cycles.cycle import (
    CHANGED_TAGS,
    Drift,
    Inputs,
    Lacks,
    LifeCycle,
    Ref,
    changed_tags,
    tag_drift,
)
from tests.local.aws.life_cycles.documents import bucket_policy, image_limit


def _on_another_bucket(ref: Ref) -> Inputs:
    return {"bucket": ref("bucket-second")}


def _put(call: str, **arguments: Any) -> Drift:
    """Somebody else's setting of a bucket."""
    return Drift(lambda outside, it: getattr(outside.client("s3"), call)(Bucket=it["bucket"], **arguments))


def _encryption(algorithm: str) -> Inputs:
    return {"rules": [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": algorithm}, "bucketKeyEnabled": True}]}


def _expiry(days: int) -> Inputs:
    noncurrent = {"noncurrentVersionExpiration": {"noncurrentDays": days}}
    incomplete = {"abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}}
    cold = {"transitions": [{"days": days, "storageClass": "GLACIER"}]}
    tagged = {"filter": {"tag": {"key": "use", "value": "logs"}}}
    return {
        "rules": [
            {"id": "old", "status": "Enabled", "filter": {}, **noncurrent},
            {"id": "logs", "status": "Enabled", "filter": {"prefix": "logs/"}, "expiration": {"days": days}},
            {"id": "parts", "status": "Enabled", "filter": {}, **incomplete},
            {"id": "cold", "status": "Disabled", **tagged, **cold},
        ]
    }


def _notification(percent: int) -> Inputs:
    return {
        "comparisonOperator": "GREATER_THAN",
        "notificationType": "FORECASTED",
        "threshold": percent,
        "thresholdType": "PERCENTAGE",
        "subscriberEmailAddresses": ["ops@example.com"],
    }


ROWS = (
    LifeCycle(
        "bucket",
        "aws:s3/bucket:Bucket",
        lambda ref: {"bucket": "tandem-weights-one", "forceDestroy": True},
        changed_tags,
        drift=_put("put_bucket_tagging", Tagging={"TagSet": [{"Key": "drifted", "Value": "yes"}]}),
    ),
    LifeCycle("bucket-second", "aws:s3/bucket:Bucket", lambda ref: {}),
    LifeCycle(
        "bucket-alone",
        "aws:s3/bucket:Bucket",
        lambda ref: {"bucket": "tandem-other-one"},
        replaced=lambda ref: {"bucket": "tandem-other-two"},
    ),
    LifeCycle(
        "versioning",
        "aws:s3/bucketVersioning:BucketVersioning",
        lambda ref: {"bucket": ref("bucket"), "versioningConfiguration": {"status": "Enabled"}},
        lambda ref: {"versioningConfiguration": {"status": "Suspended"}},
        _on_another_bucket,
        drift=_put("put_bucket_versioning", VersioningConfiguration={"Status": "Enabled"}),
    ),
    LifeCycle(
        "public-access",
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        lambda ref: {"bucket": ref("bucket"), "blockPublicAcls": True},
        lambda ref: {"blockPublicPolicy": True},
        _on_another_bucket,
        drift=Drift(
            lambda outside, it: outside.client("s3").delete_public_access_block(Bucket=it["bucket"]), repair="create"
        ),
    ),
    LifeCycle(
        "encryption",
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        lambda ref: {"bucket": ref("bucket"), **_encryption("AES256")},
        lambda ref: _encryption("aws:kms"),
        _on_another_bucket,
        drift=_put(
            "put_bucket_encryption",
            ServerSideEncryptionConfiguration={
                "Rules": [{"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}, "BucketKeyEnabled": True}]
            },
        ),
    ),
    LifeCycle(
        "policy",
        "aws:s3/bucketPolicy:BucketPolicy",
        lambda ref: {"bucket": ref("bucket"), "policy": bucket_policy("tandem-weights-one", "s3:GetObject")},
        lambda ref: {"policy": bucket_policy("tandem-weights-one", "s3:PutObject")},
        _on_another_bucket,
        drift=_put("put_bucket_policy", Policy=bucket_policy("tandem-weights-one", "s3:*")),
    ),
    LifeCycle(
        "lifecycle",
        "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        lambda ref: {"bucket": ref("bucket"), **_expiry(30)},
        lambda ref: _expiry(60),
        _on_another_bucket,
        drift=_put(
            "put_bucket_lifecycle_configuration",
            LifecycleConfiguration={
                "Rules": [{"ID": "old", "Status": "Enabled", "Filter": {"Prefix": ""}, "Expiration": {"Days": 1}}]
            },
        ),
    ),
    LifeCycle(
        "ownership",
        "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
        lambda ref: {"bucket": ref("bucket"), "rule": {"objectOwnership": "BucketOwnerEnforced"}},
        lambda ref: {"rule": {"objectOwnership": "BucketOwnerPreferred"}},
        _on_another_bucket,
        drift=_put("put_bucket_ownership_controls", OwnershipControls={"Rules": [{"ObjectOwnership": "ObjectWriter"}]}),
    ),
    LifeCycle(
        "repository",
        "aws:ecr/repository:Repository",
        lambda ref: {"name": "tandem/engine-sim", "imageTagMutability": "IMMUTABLE"},
        lambda ref: {"imageTagMutability": "MUTABLE", "imageScanningConfiguration": {"scanOnPush": True}},
        drift=Drift(
            lambda outside, it: outside.client("ecr").put_image_tag_mutability(
                repositoryName=it["id"], imageTagMutability="IMMUTABLE"
            )
        ),
    ),
    LifeCycle(
        "repository-alone",
        "aws:ecr/repository:Repository",
        lambda ref: {"name": "tandem/gateway"},
        replaced=lambda ref: {"encryptionConfigurations": [{"encryptionType": "KMS", "kmsKey": ref("key", "arn")}]},
    ),
    LifeCycle(
        "images",
        "aws:ecr/lifecyclePolicy:LifecyclePolicy",
        lambda ref: {"repository": ref("repository"), "policy": image_limit(10)},
        Lacks("the real type has no update: another text is another policy"),
        lambda ref: {"policy": image_limit(20)},
        drift=Drift(
            lambda outside, it: outside.client("ecr").put_lifecycle_policy(
                repositoryName=it["repository"], lifecyclePolicyText=image_limit(99)
            ),
            repair="replace",
        ),
    ),
    LifeCycle(
        "logs",
        "aws:cloudwatch/logGroup:LogGroup",
        lambda ref: {"name": "/tandem/flow", "retentionInDays": 30},
        lambda ref: {"retentionInDays": 90, "tags": CHANGED_TAGS},
        lambda ref: {"name": "/tandem/other"},
        drift=Drift(
            lambda outside, it: outside.client("logs").put_retention_policy(logGroupName=it["id"], retentionInDays=7)
        ),
    ),
    LifeCycle(
        "budget",
        "aws:budgets/budget:Budget",
        lambda ref: {
            "name": "month",
            "budgetType": "COST",
            "timeUnit": "MONTHLY",
            "limitAmount": "1000",
            "limitUnit": "USD",
            "costFilters": [{"name": "TagKeyValue", "values": ["user:tandem:environment$test"]}],
            "notifications": [_notification(100)],
        },
        lambda ref: {"limitAmount": "2000", "notifications": [_notification(80), _notification(120)]},
        lambda ref: {"name": "other"},
        drift=Drift(
            lambda outside, it: outside.client("budgets").update_budget(
                AccountId=it["accountId"],
                NewBudget={
                    "BudgetName": it["name"],
                    "BudgetType": "COST",
                    "TimeUnit": "MONTHLY",
                    "BudgetLimit": {"Amount": "1", "Unit": "USD"},
                },
            )
        ),
    ),
    LifeCycle(
        "flow",
        "aws:ec2/flowLog:FlowLog",
        lambda ref: {
            "vpcId": ref("vpc"),
            "trafficType": "ALL",
            "logDestinationType": "s3",
            "logDestination": ref("bucket", "arn"),
        },
        changed_tags,
        lambda ref: {"logDestination": ref("bucket-second", "arn")},
        drift=tag_drift(),
    ),
)
