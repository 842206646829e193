"""What a pair check answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """From bad to good; a check's verdict is the worst of its reasons'."""

    INCOMPATIBLE = "incompatible"
    """The halves cannot share KV, or would answer as two models."""
    REFUSED = "refused"
    """The hardware or the engine cannot run one of them."""
    UNPROVED = "unproved"
    """Something that decides is not there; the reason names it."""
    COMPATIBLE = "compatible"


@dataclass(frozen=True)
class Reason:
    """One thing that stands against the pair."""

    verdict: Verdict
    code: str
    """Stable name of what was compared."""
    where: str
    message: str
    fix: str


@dataclass(frozen=True)
class Answer:
    """The verdict and all of its reasons, the worst first."""

    reasons: tuple[Reason, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of the reasons'."""
        return self.reasons[0].verdict if self.reasons else Verdict.COMPATIBLE

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        shown = [{key: value for key, value in asdict(reason).items() if key != "verdict"} for reason in self.reasons]
        return {"verdict": self.verdict.value, "reasons": shown}


def answer(reasons: Sequence[Reason]) -> Answer:
    """The reasons in order."""
    order = list(Verdict)
    return Answer(tuple(sorted(dict.fromkeys(reasons), key=lambda reason: order.index(reason.verdict))))
