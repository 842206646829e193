"""IAM policy documents as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

Statement = dict[str, Any]
"""One statement; its values may be Outputs."""


def policy_document(*statements: Statement) -> pulumi.Output[str]:
    """The document of the statements."""
    return pulumi.Output.json_dumps({"Version": "2012-10-17", "Statement": list(statements)}, sort_keys=True)


def trust(service: str, actions: Sequence[str] = ("sts:AssumeRole",)) -> pulumi.Output[str]:
    """Lets an AWS service take the role."""
    return policy_document({"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)})
