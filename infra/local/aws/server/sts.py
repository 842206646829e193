"""Callers that play a role: whoever signs with the access key `role:NAME` is a session of that role.

moto checks no signature, so the key alone says who calls. It lets a rehearsal act as the role that a real deployment would have.
"""

from __future__ import annotations

import re
from typing import Any, Final

ROLE_KEY: Final = re.compile(r"Credential=role:(?P<role>[\w+=,.@-]{1,64})/")
SESSION: Final = "local"


def install() -> None:
    """Make moto's STS know such callers."""
    from moto.core.responses import ActionResult
    from moto.sts.responses import TokenResponse

    known = TokenResponse.get_caller_identity

    def get_caller_identity(self: Any) -> Any:
        found = ROLE_KEY.search(self.headers.get("Authorization", ""))
        if found is None:
            return known(self)
        backend = self.backend
        arn = f"arn:{backend.partition}:sts::{backend.account_id}:assumed-role/{found['role']}/{SESSION}"
        return ActionResult({"UserId": f"AROALOCAL:{SESSION}", "Account": backend.account_id, "Arn": arn})

    TokenResponse.get_caller_identity = get_caller_identity
