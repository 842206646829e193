"""Budgets."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties


class Budget(Handler):
    type = "aws:budgets/budget:Budget"
    service = "budgets"
    unkept = ("tagsAll", "notifications", "costFilters")

    def _budget(self, inputs: Properties) -> dict[str, Any]:
        filters = {f["name"]: f["values"] for f in inputs.get("costFilters") or ()}
        return {
            "BudgetName": inputs["name"],
            "BudgetType": inputs["budgetType"],
            "TimeUnit": inputs["timeUnit"],
            "BudgetLimit": {"Amount": str(inputs["limitAmount"]), "Unit": inputs["limitUnit"]},
            "CostFilters": filters,
        }

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        notifications = [
            {
                "Notification": {
                    "NotificationType": n["notificationType"],
                    "ComparisonOperator": n["comparisonOperator"],
                    "Threshold": float(n["threshold"]),
                    "ThresholdType": n["thresholdType"],
                },
                "Subscribers": [
                    {"SubscriptionType": "EMAIL", "Address": address}
                    for address in n.get("subscriberEmailAddresses") or ()
                ],
            }
            for n in inputs.get("notifications") or ()
        ]
        self.client(cloud).create_budget(
            AccountId=cloud.account, Budget=self._budget(inputs), NotificationsWithSubscribers=notifications
        )
        return f"{cloud.account}:{inputs['name']}"

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        """moto keeps no tags of budgets."""

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        budget = name.partition(":")[2]
        answer = cloud.found(self.client(cloud).describe_budget, AccountId=cloud.account, BudgetName=budget)
        if answer is None:
            return None
        found = answer["Budget"]
        return {
            "name": budget,
            "accountId": cloud.account,
            "arn": cloud.arn("budgets", f"budget/{budget}", regional=False),
            "budgetType": found["BudgetType"],
            "limitAmount": found.get("BudgetLimit", {}).get("Amount", ""),
            "limitUnit": found.get("BudgetLimit", {}).get("Unit", ""),
            "timeUnit": found["TimeUnit"],
        }

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.delete(cloud, name, state)
        self.create(cloud, inputs)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        budget = name.partition(":")[2]
        cloud.until_free(self.client(cloud).delete_budget, AccountId=cloud.account, BudgetName=budget)
