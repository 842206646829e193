"""A registry stack, planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tandem.config.registry import RegistryStack
from tandem.plan import names

KEY_DELETION_DAYS: Final = 30
"""KMS: days between a key's deletion and its end; the longest there is: nothing it encrypted can be read after."""
KEY_DELETION_DAYS_DISPOSABLE: Final = 7
"""KMS: the shortest there is."""
SECRET_RECOVERY_DAYS: Final = 30
"""Secrets Manager: days in which a deleted secret can be brought back."""
UNTAGGED_IMAGES_DAYS: Final = 14
"""ECR: days that images without a tag are kept; a rollout that refers to them by digest is over by then."""
UPLOAD_DAYS: Final = 7
"""S3: days after which the parts of an upload that never ended are deleted."""


@dataclass(frozen=True)
class BudgetPlan:
    """A month's limit, and who hears of it."""

    name: str
    usd_per_month: float
    emails: tuple[str, ...]


@dataclass(frozen=True)
class RegistryPlan:
    """Everything a registry stack makes."""

    prefix: str
    account_id: str
    region: str
    weights_bucket: str
    require_tls: bool
    old_versions_days: int
    upload_days: int
    key_alias: str
    key_deletion_days: int
    repositories: dict[str, str]
    """Image -> repository."""
    untagged_images_days: int
    api_keys_secret: str
    secret_recovery_days: int
    disposable: bool
    budget: BudgetPlan | None


def plan_registry(stack: RegistryStack) -> RegistryPlan:
    """The stack's registry. Raises `PlanError` where a name does not fit."""
    budget = stack.budget
    return RegistryPlan(
        prefix=names.prefix(stack),
        account_id=stack.account_id,
        region=stack.site.region,
        weights_bucket=names.weights_bucket(stack),
        require_tls=stack.require_tls,
        old_versions_days=stack.old_versions,
        upload_days=UPLOAD_DAYS,
        key_alias=names.key_alias(stack, "registry"),
        key_deletion_days=KEY_DELETION_DAYS_DISPOSABLE if stack.disposable else KEY_DELETION_DAYS,
        repositories={image: names.repository(stack, image) for image in stack.images},
        untagged_images_days=UNTAGGED_IMAGES_DAYS,
        api_keys_secret=names.api_keys_secret(stack),
        # At once, or the next `up` meets a secret of the same name that waits for its end.
        secret_recovery_days=0 if stack.disposable else SECRET_RECOVERY_DAYS,
        disposable=stack.disposable,
        budget=BudgetPlan(names.prefix(stack), budget.usd_per_month, budget.emails) if budget else None,
    )
