"""The load balancer that clients reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_aws as aws

from tandem import limits
from tandem.components.log_bucket import LogBucket
from tandem.config.base import Colour
from tandem.plan.edge import NOT_FOUND, RULE_PRIORITY, TLS_POLICY, EdgePlan

WEIGHTS = "actions[*].forward.targetGroups[*].weight"
"""What the rollout owns after creation, and nothing beside it."""


class LoadBalancer(pulumi.ComponentResource):
    """An application load balancer with one door: HTTPS on 443, the inference paths to the colours, 404 to the rest.

    Creates: load balancer, listener, rule; with a hosted zone also the domain's record; with access logs their bucket.
    Cost: by the hour, and by connections and bytes.
    Replaced by: subnets' VPC. The weights between the colours are the rollout's after creation.
    """

    arn: pulumi.Output[str]
    dns_name: pulumi.Output[str]
    listener_arn: pulumi.Output[str]
    rule_arn: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        plan: EdgePlan,
        *,
        account_id: str,
        subnet_ids: Sequence[str],
        security_group_id: str,
        certificate_arn: pulumi.Input[str],
        target_groups: Mapping[Colour, pulumi.Input[str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:edge:LoadBalancer", name, {}, opts)
        self._name, self._plan = name, plan
        self._child = pulumi.ResourceOptions(parent=self)
        balancer = aws.lb.LoadBalancer(
            name,
            load_balancer_type="application",
            internal=False,
            subnets=list(subnet_ids),
            security_groups=[security_group_id],
            idle_timeout=plan.times.idle_seconds,
            drop_invalid_header_fields=True,
            enable_deletion_protection=plan.deletion_protection,
            enable_zonal_shift=True,
            access_logs=self._access_logs(account_id),
            opts=self._child,
        )
        self.arn, self.dns_name = balancer.arn, balancer.dns_name
        listener = self._listen(balancer, certificate_arn)
        self.listener_arn = listener.arn
        self.rule_arn = self._route(listener, target_groups).arn
        if plan.hosted_zone_id is not None:
            self._point(balancer, plan.hosted_zone_id)
        self.register_outputs({"dns_name": self.dns_name})

    def _listen(self, balancer: aws.lb.LoadBalancer, certificate_arn: pulumi.Input[str]) -> aws.lb.Listener:
        return aws.lb.Listener(
            f"{self._name}-https",
            load_balancer_arn=balancer.arn,
            port=limits.HTTPS_PORT,
            protocol="HTTPS",
            ssl_policy=TLS_POLICY,
            certificate_arn=certificate_arn,
            default_actions=[
                aws.lb.ListenerDefaultActionArgs(
                    type="fixed-response",
                    fixed_response=aws.lb.ListenerDefaultActionFixedResponseArgs(
                        content_type="application/json", status_code="404", message_body=NOT_FOUND
                    ),
                )
            ],
            opts=self._child,
        )

    def _route(
        self, listener: aws.lb.Listener, target_groups: Mapping[Colour, pulumi.Input[str]]
    ) -> aws.lb.ListenerRule:
        forward = aws.lb.ListenerRuleActionForwardArgs(
            target_groups=[
                aws.lb.ListenerRuleActionForwardTargetGroupArgs(arn=target_groups[colour], weight=weight)
                for colour, weight in self._plan.weights.items()
            ]
        )
        return aws.lb.ListenerRule(
            f"{self._name}-inference",
            listener_arn=listener.arn,
            priority=RULE_PRIORITY,
            conditions=[
                aws.lb.ListenerRuleConditionArgs(
                    path_pattern=aws.lb.ListenerRuleConditionPathPatternArgs(values=list(self._plan.paths))
                )
            ],
            actions=[aws.lb.ListenerRuleActionArgs(type="forward", forward=forward)],
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=[WEIGHTS]),
        )

    def _point(self, balancer: aws.lb.LoadBalancer, hosted_zone_id: str) -> None:
        aws.route53.Record(
            f"{self._name}-domain",
            zone_id=hosted_zone_id,
            name=self._plan.domain,
            type="A",
            aliases=[
                aws.route53.RecordAliasArgs(
                    name=balancer.dns_name, zone_id=balancer.zone_id, evaluate_target_health=True
                )
            ],
            opts=self._child,
        )

    def _access_logs(self, account_id: str) -> aws.lb.LoadBalancerAccessLogsArgs | None:
        logs = self._plan.access_logs
        if logs is None:
            return None
        bucket = LogBucket(
            f"{self._name}-access-logs",
            bucket_name=logs.bucket,
            writer="logdelivery.elasticloadbalancing.amazonaws.com",
            account_id=account_id,
            retention_days=logs.retention_days,
            disposable=logs.disposable,
            opts=self._child,
        )
        return aws.lb.LoadBalancerAccessLogsArgs(bucket=bucket.name, enabled=True)
