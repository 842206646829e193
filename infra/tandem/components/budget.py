"""A month's budget of an environment."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.components.provider import ENVIRONMENT_TAG
from tandem.plan.registry import BudgetPlan

FORECAST_PERCENT = 80
ACTUAL_PERCENT = 100


class Budget(pulumi.ComponentResource):
    """Mails when the environment's bill is going to pass, or has passed, its limit. It stops nothing.

    Creates: budget.
    Cost: none.
    Replaced by: the name.
    """

    def __init__(
        self, name: str, plan: BudgetPlan, *, environment: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("tandem:account:Budget", name, {}, opts)
        aws.budgets.Budget(
            name,
            name=plan.name,
            budget_type="COST",
            time_unit="MONTHLY",
            limit_amount=f"{plan.usd_per_month:.2f}",
            limit_unit="USD",
            cost_filters=[
                aws.budgets.BudgetCostFilterArgs(name="TagKeyValue", values=[f"user:{ENVIRONMENT_TAG}${environment}"])
            ],
            notifications=[
                aws.budgets.BudgetNotificationArgs(
                    notification_type=kind,
                    comparison_operator="GREATER_THAN",
                    threshold=threshold,
                    threshold_type="PERCENTAGE",
                    subscriber_email_addresses=list(plan.emails),
                )
                for kind, threshold in (("FORECASTED", FORECAST_PERCENT), ("ACTUAL", ACTUAL_PERCENT))
            ],
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.register_outputs({})
