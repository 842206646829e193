"""Callers that play a role: whoever signs with the access key `role:NAME` is a session of that role.

moto checks no signature, so the key alone says who calls. It lets a rehearsal act as the role that a real deployment would have.
"""

from __future__ import annotations

from typing import Any, Final

ROLE_KEY: Final = "role:"
SESSION: Final = "local"


def install() -> None:
    """Make moto's STS know such callers."""
    from moto.sts import models

    known = models.STSBackend.get_caller_identity

    def get_caller_identity(self: Any, access_key_id: str, region: str) -> tuple[str, str, str]:
        if not access_key_id.startswith(ROLE_KEY):
            identity: tuple[str, str, str] = known(self, access_key_id, region)
            return identity
        role = access_key_id.removeprefix(ROLE_KEY)
        arn = f"arn:{self.partition}:sts::{self.account_id}:assumed-role/{role}/{SESSION}"
        return f"AROALOCAL:{SESSION}", arn, self.account_id

    models.STSBackend.get_caller_identity = get_caller_identity
