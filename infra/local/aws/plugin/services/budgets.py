"""Budgets."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties


class Budget(Handler):
    """moto tells who is notified to nobody, and keeps no tags: both are recorded beside it."""

    type = "aws:budgets/budget:Budget"
    service = "budgets"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.client(cloud).create_budget(
            AccountId=cloud.account,
            Budget=_budget(inputs),
            NotificationsWithSubscribers=[_notification(notice) for notice in inputs.get("notifications") or ()],
        )
        return f"{cloud.account}:{inputs['name']}"

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        return None

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        account, _, budget = name.partition(":")
        answer = cloud.found(self.client(cloud).describe_budget, AccountId=account, BudgetName=budget)
        if answer is None:
            return None
        found = answer["Budget"]
        limit = found.get("BudgetLimit") or {}
        return {
            "name": budget,
            "accountId": account,
            "arn": cloud.arn("budgets", f"budget/{budget}", regional=False),
            "budgetType": found["BudgetType"],
            "limitAmount": limit.get("Amount", ""),
            "limitUnit": limit.get("Unit", ""),
            "timeUnit": found["TimeUnit"],
            "costFilters": [
                {"name": key, "values": values} for key, values in (found.get("CostFilters") or {}).items()
            ],
        }

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        budget = {"AccountId": cloud.account, "BudgetName": inputs["name"]}
        if changed - {"notifications"}:
            client.update_budget(AccountId=cloud.account, NewBudget=_budget(inputs))
        if "notifications" in changed:
            for notice in client.describe_notifications_for_budget(**budget)["Notifications"]:
                client.delete_notification(**budget, Notification=notice)
            for notice in inputs.get("notifications") or ():
                client.create_notification(**budget, **_notification(notice))

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        account, _, budget = name.partition(":")
        cloud.until_free(self.client(cloud).delete_budget, AccountId=account, BudgetName=budget)


def _budget(inputs: Properties) -> dict[str, Any]:
    return {
        "BudgetName": inputs["name"],
        "BudgetType": inputs["budgetType"],
        "TimeUnit": inputs["timeUnit"],
        "BudgetLimit": {"Amount": str(inputs["limitAmount"]), "Unit": inputs["limitUnit"]},
        "CostFilters": {entry["name"]: entry["values"] for entry in inputs.get("costFilters") or ()},
    }


SUBSCRIPTIONS = {"subscriberEmailAddresses": "EMAIL", "subscriberSnsTopicArns": "SNS"}


def _notification(notice: Properties) -> dict[str, Any]:
    """A notification and its subscribers, as both calls take them."""
    return {
        "Notification": {
            "NotificationType": notice["notificationType"],
            "ComparisonOperator": notice["comparisonOperator"],
            "Threshold": float(notice["threshold"]),
            "ThresholdType": notice["thresholdType"],
        },
        "Subscribers": [
            {"SubscriptionType": kind, "Address": address}
            for key, kind in SUBSCRIPTIONS.items()
            for address in notice.get(key) or ()
        ],
    }
