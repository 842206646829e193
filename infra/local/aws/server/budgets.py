"""UpdateBudget, which moto lacks."""

from __future__ import annotations

import json
from typing import Any


def install() -> None:
    """Make moto's Budgets change a budget and keep its notifications."""
    from moto.budgets.models import Budget
    from moto.budgets.responses import BudgetsResponse

    def update_budget(self: Any) -> str:
        account, changed = self._get_param("AccountId"), self._get_param("NewBudget")
        self.backend.describe_budget(account_id=account, budget_name=changed["BudgetName"])
        budgets = self.backend.budgets[account]
        updated = Budget(changed, [])
        updated.notifications = budgets[changed["BudgetName"]].notifications
        budgets[changed["BudgetName"]] = updated
        return json.dumps({})

    BudgetsResponse.update_budget = update_budget
