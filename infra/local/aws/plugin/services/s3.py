"""S3 buckets and what is configured beside them. Each configuration's id is its bucket's name."""

from __future__ import annotations

from typing import Any, ClassVar

from local.aws.plugin.cloud import Cloud, is_missing
from local.aws.plugin.compare import is_empty
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.schema import ResourceSchema
from local.aws.plugin.shapes import Shapes
from local.aws.plugin.tags import as_pairs, from_pairs


class Bucket(Handler):
    type = "aws:s3/bucket:Bucket"
    service = "s3"
    tagged_at_creation = False

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        place = (
            {} if cloud.region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": cloud.region}}
        )
        self.client(cloud).create_bucket(Bucket=inputs["bucket"], **place)
        return str(inputs["bucket"])

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        self.client(cloud).put_bucket_tagging(Bucket=name, Tagging={"TagSet": as_pairs(tags)})

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        if cloud.found(client.head_bucket, Bucket=name) is None:
            return None
        tags = cloud.found(client.get_bucket_tagging, Bucket=name) or {}
        return {
            "arn": f"arn:{cloud.session.partition}:s3:::{name}",
            "bucket": name,
            "bucketDomainName": f"{name}.s3.amazonaws.com",
            "bucketRegionalDomainName": f"{name}.s3.{cloud.region}.amazonaws.com",
            "bucketRegion": cloud.region,
            "tagsAll": from_pairs(tags.get("TagSet")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        client = self.client(cloud)
        if state.get("forceDestroy"):
            self._empty(client, name)
        cloud.until_free(client.delete_bucket, Bucket=name)

    def _empty(self, client: Any, name: str) -> None:
        try:
            for page in client.get_paginator("list_object_versions").paginate(Bucket=name):
                for item in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
                    client.delete_object(Bucket=name, Key=item["Key"], VersionId=item["VersionId"])
        except Exception as error:
            if not is_missing(error):
                raise


class BucketPart(Handler):
    """A configuration of a bucket: put whole, read whole, taken away."""

    service = "s3"
    put: ClassVar[str]
    get: ClassVar[str]
    remove: ClassVar[str]

    def body(self, inputs: Properties) -> dict[str, Any]:
        """What the put call takes beside the bucket."""
        raise NotImplementedError

    def state(self, answer: dict[str, Any]) -> Properties:
        """Properties from what the get call answers."""
        raise NotImplementedError

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.update(cloud, "", {}, inputs, frozenset())
        return str(inputs["bucket"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        getattr(self.client(cloud), self.put)(Bucket=inputs["bucket"], **self.body(inputs))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(getattr(self.client(cloud), self.get), Bucket=name)
        return None if answer is None else {"bucket": name, **self.state(answer)}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(getattr(self.client(cloud), self.remove), Bucket=name)


class BucketVersioning(BucketPart):
    type = "aws:s3/bucketVersioning:BucketVersioning"
    put, get, remove = "put_bucket_versioning", "get_bucket_versioning", "put_bucket_versioning"

    def body(self, inputs: Properties) -> dict[str, Any]:
        return {"VersioningConfiguration": {"Status": inputs["versioningConfiguration"]["status"]}}

    def state(self, answer: dict[str, Any]) -> Properties:
        return {"versioningConfiguration": {"status": answer.get("Status", "Disabled")}}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        # Versioning cannot be taken away from a bucket, only suspended.
        call = self.client(cloud).put_bucket_versioning
        cloud.until_free(call, Bucket=name, VersioningConfiguration={"Status": "Suspended"})


class BucketPublicAccessBlock(BucketPart):
    type = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
    put, get, remove = "put_public_access_block", "get_public_access_block", "delete_public_access_block"
    FLAGS: ClassVar = {
        "blockPublicAcls": "BlockPublicAcls",
        "blockPublicPolicy": "BlockPublicPolicy",
        "ignorePublicAcls": "IgnorePublicAcls",
        "restrictPublicBuckets": "RestrictPublicBuckets",
    }

    def body(self, inputs: Properties) -> dict[str, Any]:
        return {"PublicAccessBlockConfiguration": {wire: bool(inputs.get(key)) for key, wire in self.FLAGS.items()}}

    def state(self, answer: dict[str, Any]) -> Properties:
        found = answer["PublicAccessBlockConfiguration"]
        return {key: found.get(wire, False) for key, wire in self.FLAGS.items()}


class BucketPolicy(BucketPart):
    type = "aws:s3/bucketPolicy:BucketPolicy"
    put, get, remove = "put_bucket_policy", "get_bucket_policy", "delete_bucket_policy"

    def body(self, inputs: Properties) -> dict[str, Any]:
        return {"Policy": inputs["policy"]}

    def state(self, answer: dict[str, Any]) -> Properties:
        return {"policy": answer["Policy"]}


class BucketOwnershipControls(BucketPart):
    type = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
    put, get, remove = (
        "put_bucket_ownership_controls",
        "get_bucket_ownership_controls",
        "delete_bucket_ownership_controls",
    )

    def body(self, inputs: Properties) -> dict[str, Any]:
        return {"OwnershipControls": {"Rules": [{"ObjectOwnership": inputs["rule"]["objectOwnership"]}]}}

    def state(self, answer: dict[str, Any]) -> Properties:
        return {"rule": {"objectOwnership": answer["OwnershipControls"]["Rules"][0]["ObjectOwnership"]}}


class BucketEncryption(BucketPart):
    type = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
    put, get, remove = "put_bucket_encryption", "get_bucket_encryption", "delete_bucket_encryption"

    def body(self, inputs: Properties) -> dict[str, Any]:
        rules = []
        for rule in inputs["rules"]:
            default = rule.get("applyServerSideEncryptionByDefault") or {}
            apply = {"SSEAlgorithm": default.get("sseAlgorithm")}
            if default.get("kmsMasterKeyId"):
                apply["KMSMasterKeyID"] = default["kmsMasterKeyId"]
            rules.append(
                {"ApplyServerSideEncryptionByDefault": apply, "BucketKeyEnabled": bool(rule.get("bucketKeyEnabled"))}
            )
        return {"ServerSideEncryptionConfiguration": {"Rules": rules}}

    def state(self, answer: dict[str, Any]) -> Properties:
        rules = []
        for rule in answer["ServerSideEncryptionConfiguration"]["Rules"]:
            default = rule["ApplyServerSideEncryptionByDefault"]
            apply = {"sseAlgorithm": default["SSEAlgorithm"]}
            if default.get("KMSMasterKeyID"):
                apply["kmsMasterKeyId"] = default["KMSMasterKeyID"]
            enabled = str(rule.get("BucketKeyEnabled", False)).lower() == "true"
            rules.append({"applyServerSideEncryptionByDefault": apply, "bucketKeyEnabled": enabled})
        return {"rules": rules}


class BucketLifecycle(BucketPart):
    type = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
    put = "put_bucket_lifecycle_configuration"
    get, remove = "get_bucket_lifecycle_configuration", "delete_bucket_lifecycle"
    SHAPES: ClassVar = Shapes(names={"id": "ID"})

    def body(self, inputs: Properties) -> dict[str, Any]:
        # A rule for everything has an empty prefix: S3 takes no rule without a filter.
        rules = [{**rule, "filter": None} for rule in inputs["rules"]]
        filters = [self.SHAPES.aws(rule.get("filter") or {}) or {"Prefix": ""} for rule in inputs["rules"]]
        made = [{**self.SHAPES.aws(rule), "Filter": of} for rule, of in zip(rules, filters, strict=True)]
        return {"LifecycleConfiguration": {"Rules": made}}

    def state(self, answer: dict[str, Any]) -> Properties:
        rules = self.SHAPES.sdk(answer["Rules"], ResourceSchema.of(self.type).inputs["rules"]["type"])
        return {"rules": [_without_nothing(rule) for rule in rules]}


def _without_nothing(value: Any) -> Any:
    """moto answers an empty text or zero for parts that a rule does not have."""
    if isinstance(value, dict):
        kept = {key: _without_nothing(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if not is_empty(item)}
    return [_without_nothing(item) for item in value] if isinstance(value, list) else value
