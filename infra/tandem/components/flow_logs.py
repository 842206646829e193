"""Flow logs of a VPC."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.components.log_bucket import LogBucket
from tandem.plan.network import FlowLogsPlan


class FlowLogs(pulumi.ComponentResource):
    """Accepted and refused connections of a VPC, in a bucket.

    Creates: flow log, log bucket.
    Cost: by the byte delivered, and by what is stored.
    Replaced by: the VPC, the bucket's name.
    """

    bucket: LogBucket

    def __init__(
        self,
        name: str,
        plan: FlowLogsPlan,
        *,
        vpc_id: pulumi.Input[str],
        account_id: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:network:FlowLogs", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        self.bucket = LogBucket(
            f"{name}-bucket",
            bucket_name=plan.bucket,
            writer="delivery.logs.amazonaws.com",
            account_id=account_id,
            retention_days=plan.retention_days,
            disposable=plan.disposable,
            opts=child,
        )
        aws.ec2.FlowLog(
            name,
            vpc_id=vpc_id,
            traffic_type="ALL",
            log_destination_type="s3",
            log_destination=self.bucket.arn,
            opts=child,
        )
        self.register_outputs({})
