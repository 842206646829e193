"""The gateways of one colour, as the load balancer sees them."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.plan.timeouts import EdgeTimes


class TargetGroup(pulumi.ComponentResource):
    """Addresses of one colour's gateway pods; the serving stack binds them.

    Creates: target group, under a name that Pulumi chooses: a listener that refers to the old one would block a
    replacement of the same name.
    Cost: none.
    Replaced by: port, VPC.
    """

    arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        times: EdgeTimes,
        *,
        port: int,
        vpc_id: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:edge:TargetGroup", name, {}, opts)
        group = aws.lb.TargetGroup(
            name,
            vpc_id=vpc_id,
            target_type="ip",
            protocol="HTTP",
            port=port,
            # Answers are streams of very different lengths: turns would pile them up on one gateway.
            load_balancing_algorithm_type="least_outstanding_requests",
            deregistration_delay=times.deregistration_seconds,
            health_check=aws.lb.TargetGroupHealthCheckArgs(
                protocol="HTTP",
                path=times.health_path,
                matcher="200",
                interval=times.health_interval_seconds,
                timeout=times.health_timeout_seconds,
                healthy_threshold=times.healthy_threshold,
                unhealthy_threshold=times.unhealthy_threshold,
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.arn = group.arn
        self.register_outputs({"arn": self.arn})
