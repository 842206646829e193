"""The errors that a person is meant to read, each with the exit code it ends a command with.

Anything that is not a `TandemError` is a bug and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong with what a person gave.

    Reads as `<where>: <given> - <rule>. <fix>`.
    """

    where: str
    """File and path inside it, for example `stacks/Pulumi.dev-network.yaml: tandem:stack.vpc.cidr`."""
    given: str
    """The value, shortened where long; never a secret."""
    rule: str
    """What must hold, and why."""
    fix: str
    """What to do about it."""

    def __str__(self) -> str:
        given = f" {self.given}" if self.given else ""
        return f"{self.where}:{given} - {self.rule.rstrip('.')}. {self.fix.rstrip('.')}."


class TandemError(Exception):
    """One line for a person. `exit_code` ends the command."""

    exit_code = 1


class ConfigError(TandemError):
    """A stack file is wrong. Holds every fault that was found, not the first."""

    exit_code = 2

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(dict.fromkeys(faults))
        super().__init__("\n".join(str(fault) for fault in self.faults))


class PlanError(ConfigError):
    """The configuration is well formed but cannot be built as written."""


class MissingTool(TandemError):
    """Something that this machine needs is not there; the message names the command that gets it."""

    exit_code = 3


class EngineFailed(TandemError):
    """The Pulumi engine ended a stack operation with an error."""

    exit_code = 4


class CloudUnavailable(TandemError):
    """The local cloud, or a cluster, does not answer."""

    exit_code = 5
