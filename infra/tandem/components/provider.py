"""The one AWS provider of a stack. Default providers are switched off, so nothing can reach an account past it."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from tandem.config.base import StackBase

ENVIRONMENT_TAG = "tandem:environment"
"""Budgets and bills are told apart by it."""


def aws_provider(stack: StackBase) -> aws.Provider:
    """The provider of the stack's region, which refuses every account but the stack's own."""
    tags = {
        **stack.tags,
        ENVIRONMENT_TAG: stack.environment,
        "tandem:site": stack.site.name,
        "tandem:stack": pulumi.get_stack(),
    }
    return aws.Provider(
        "aws",
        region=stack.site.region,
        allowed_account_ids=[stack.account_id],
        default_tags=aws.ProviderDefaultTagsArgs(tags=tags),
    )
