"""Which target group, and which of its targets, takes the next request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from local.edge.model import Forward, Target, TargetGroup


class WeightedTurns:
    """Smooth weighted round robin: over any run of requests each group gets its share, spread evenly."""

    def __init__(self) -> None:
        self._credit: dict[str, int] = {}

    def next(self, forward: Forward) -> str | None:
        """ARN of the group whose turn it is; None where every weight is 0."""
        weights = [(arn, weight) for arn, weight in forward.weights if weight > 0]
        total = sum(weight for _, weight in weights)
        if not total:
            return None
        self._credit = {arn: self._credit.get(arn, 0) + weight for arn, weight in weights}
        chosen = max(weights, key=lambda item: self._credit[item[0]])[0]
        self._credit[chosen] -= total
        return chosen


class TargetTurns:
    """Picks among healthy targets: in turn, or the one with the fewest requests in flight."""

    def __init__(self) -> None:
        self._last = -1

    def next(self, group: TargetGroup, healthy: Sequence[Target], in_flight: Callable[[Target], int]) -> Target | None:
        """The target; None where there is none. With no healthy target at all every registered one is tried (fail open)."""
        candidates = sorted(healthy or group.targets, key=str)
        if not candidates:
            return None
        self._last += 1
        turned = [candidates[(self._last + n) % len(candidates)] for n in range(len(candidates))]
        if group.algorithm == "least_outstanding_requests":
            return min(turned, key=in_flight)
        return turned[0]
