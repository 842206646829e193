"""Asks every check and tells the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from tandem.config.environment import LocalCloud
from tandem.config.stack import Stack
from tandem.ops import shell
from tandem.ops.environment import LoadedEnvironment
from tandem.ops.preflight import (
    buckets,
    edge,
    identity,
    instance_types,
    kubernetes,
    name_lengths,
    quotas,
    reservations,
)
from tandem.ops.preflight.account import Account
from tandem.ops.preflight.answers import Answer, Check, Verdict, unchecked

EXIT_CODES: Final = ((Verdict.FAILS, 1), (Verdict.UNCHECKED, 6))
"""The first of these answers that any check gave decides; 0 where all are ok."""
MARKS: Final = {Verdict.OK: "ok   ", Verdict.FAILS: "FAILS", Verdict.UNCHECKED: "?    "}


@dataclass(frozen=True)
class Preflight:
    """Every check's answer, by name."""

    environment: str
    simulated_at: str | None
    answers: Mapping[str, Answer]

    @property
    def exit_code(self) -> int:
        """0: all ok. 1: something fails. 6: nothing fails, but something could not be checked."""
        given = {answer.verdict for answer in self.answers.values()}
        return next((code for verdict, code in EXIT_CODES if verdict in given), 0)

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "environment": self.environment,
            "simulated_at": self.simulated_at,
            "exit_code": self.exit_code,
            "checks": [{"name": name, **asdict(answer)} for name, answer in self.answers.items()],
        }

    def as_text(self) -> str:
        """For a person."""
        lines = []
        for name, answer in self.answers.items():
            why = "could not be checked: " if answer.verdict is Verdict.UNCHECKED else ""
            lines.append(f"{MARKS[answer.verdict]} {name}: {why}{answer.detail}")
            if answer.fix:
                lines.append(f"      {answer.fix}.")
        counted = ", ".join(f"{_count(self.answers, verdict)} {verdict}" for verdict in Verdict)
        return "\n".join([*lines, "", f"{self.environment}: {counted}"])


def run(environment: LoadedEnvironment, now: datetime) -> Preflight:
    """Asks the account that the caller's credentials (or the local environment's) lead to. Changes nothing there."""
    local = isinstance(environment.settings.cloud, LocalCloud)
    account = Account(shell.variables(environment) if local else {}, environment.region)
    answers = {check.name: answer(check, account) for check in all_checks(environment.stacks, now)}
    return Preflight(environment.name, account.simulated_at, answers)


def all_checks(stacks: Mapping[str, Stack], now: datetime) -> Iterator[Check]:
    """Every check of the environment's stacks."""
    yield from identity.checks(stacks)
    yield from name_lengths.checks(stacks)
    yield from buckets.checks(stacks)
    yield from kubernetes.checks(stacks, now)
    yield from quotas.checks(stacks)
    yield from instance_types.checks(stacks)
    yield from reservations.checks(stacks)
    yield from edge.checks(stacks, now)


def answer(check: Check, account: Account) -> Answer:
    """The check's answer; what a simulated AWS makes up is none."""
    given = check.ask(account)
    if not check.real_only or account.simulated_at is None or given.verdict is Verdict.UNCHECKED:
        return given
    return unchecked(f"AWS is simulated at {account.simulated_at} and does not know (it says: {given.detail})")


def _count(answers: Mapping[str, Answer], verdict: Verdict) -> int:
    return sum(given.verdict is verdict for given in answers.values())
