"""AWS WAF in front of the load balancer."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

WINDOW_SECONDS = 300


class Firewall(pulumi.ComponentResource):
    """Refuses a client address that asks too often. Bodies are not inspected: prompts contain code.

    Creates: web ACL, its association.
    Cost: by the month and by the request.
    Updated in place: the limit.
    """

    def __init__(
        self,
        name: str,
        *,
        requests_per_client: int,
        load_balancer_arn: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`requests_per_client` counts over five minutes."""
        super().__init__("tandem:edge:Firewall", name, {}, opts)
        acl = aws.wafv2.WebAcl(
            name,
            scope="REGIONAL",
            default_action=aws.wafv2.WebAclDefaultActionArgs(allow=aws.wafv2.WebAclDefaultActionAllowArgs()),
            rules=[
                aws.wafv2.WebAclRuleArgs(
                    name="requests-per-client",
                    priority=1,
                    action=aws.wafv2.WebAclRuleActionArgs(block=aws.wafv2.WebAclRuleActionBlockArgs()),
                    statement=aws.wafv2.WebAclRuleStatementArgs(
                        rate_based_statement=aws.wafv2.WebAclRuleStatementRateBasedStatementArgs(
                            limit=requests_per_client,
                            aggregate_key_type="IP",
                            evaluation_window_sec=WINDOW_SECONDS,
                        )
                    ),
                    visibility_config=aws.wafv2.WebAclRuleVisibilityConfigArgs(
                        cloudwatch_metrics_enabled=True,
                        metric_name="requests-per-client",
                        sampled_requests_enabled=True,
                    ),
                )
            ],
            visibility_config=aws.wafv2.WebAclVisibilityConfigArgs(
                cloudwatch_metrics_enabled=True, metric_name=name, sampled_requests_enabled=True
            ),
            opts=pulumi.ResourceOptions(parent=self),
        )
        aws.wafv2.WebAclAssociation(
            f"{name}-association",
            resource_arn=load_balancer_arn,
            web_acl_arn=acl.arn,
            # Created first, its delete would take the new one away: both have the same address.
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.register_outputs({})
