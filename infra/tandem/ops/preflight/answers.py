"""A check, its one of three answers, and what a read of the account gave: a value, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    from tandem.ops.preflight.account import Account

T = TypeVar("T")


class Verdict(StrEnum):
    """The three answers. What nobody could look at is not ok."""

    OK = "ok"
    FAILS = "fails"
    UNCHECKED = "could not be checked"


@dataclass(frozen=True)
class Answer:
    """What a check found."""

    verdict: Verdict
    detail: str
    """What was found, or why it could not be looked at."""
    fix: str = ""
    """What to do where it fails."""


def ok(detail: str) -> Answer:
    """It is as the environment needs it."""
    return Answer(Verdict.OK, detail)


def fails(detail: str, fix: str) -> Answer:
    """`up` would fail, or make something that does not work."""
    return Answer(Verdict.FAILS, detail, fix)


def unchecked(why: str) -> Answer:
    """Nobody knows."""
    return Answer(Verdict.UNCHECKED, why)


@dataclass(frozen=True)
class Known(Generic[T]):
    """What AWS answered."""

    value: T


@dataclass(frozen=True)
class Unread:
    """AWS gave no answer that can be judged."""

    why: str


Reading: TypeAlias = Known[T] | Unread


def judged(reading: Reading[T], judge: Callable[[T], Answer]) -> Answer:
    """The judgement on what was read; without a reading there is none."""
    return unchecked(reading.why) if isinstance(reading, Unread) else judge(reading.value)


@dataclass(frozen=True)
class Check:
    """One named question to the account."""

    name: str
    ask: Callable[[Account], Answer]
    real_only: bool = False
    """A simulated AWS invents the answer (quotas, offerings, releases): it counts for nothing."""
