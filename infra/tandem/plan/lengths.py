"""How long prompts are: a distribution as its quantiles, so that every mean and share over it is one sum.

    point i of n = quantile (i + 1/2) / n;   P(L > t) and E[L | L > t] follow from sorted points and their running sum

A log-normal, a fixed length and a trace are the same thing here. 20,000 points keep the error of a mean below 0.01 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np

from tandem.plan.vectors import Array

POINTS = 20_000


@dataclass(frozen=True)
class Lengths:
    """A distribution of token counts."""

    points: tuple[float, ...]
    """Equally likely, ascending, each positive."""

    @classmethod
    def fixed(cls, tokens: float) -> Lengths:
        """Every prompt the same."""
        return cls((float(tokens),))

    @classmethod
    def lognormal(cls, mu: float, sigma: float, low: float, high: float) -> Lengths:
        """Log-normal, cut to [low, high]: `mu` and `sigma` are of the logarithm."""
        normal = NormalDist(mu, sigma)
        first, last = normal.cdf(math.log(low)), normal.cdf(math.log(high))
        shares = ((index + 0.5) / POINTS for index in range(POINTS))
        return cls(tuple(math.exp(normal.inv_cdf(first + share * (last - first))) for share in shares))

    @classmethod
    def observed(cls, tokens: Sequence[float]) -> Lengths:
        """Of a trace."""
        return cls(tuple(sorted(float(value) for value in tokens)))

    @cached_property
    def array(self) -> Array:
        """The points as a vector."""
        return np.asarray(self.points, dtype=np.float64)

    @cached_property
    def _sums(self) -> Array:
        return np.concatenate(([0.0], np.cumsum(self.array)))

    @property
    def mean(self) -> float:
        """Tokens, on average."""
        return float(self._sums[-1]) / len(self.points)

    def quantile(self, share: float) -> float:
        """Tokens that a `share` of prompts stays at or below."""
        return self.points[min(len(self.points) - 1, max(0, math.ceil(share * len(self.points)) - 1))]

    def split(self, threshold: Array) -> tuple[Array, Array, Array]:
        """For each threshold: share above it, mean of those above, mean of those at or below (0 where there are none)."""
        below = np.searchsorted(self.array, threshold, side="right")
        above = len(self.points) - below
        short = np.divide(self._sums[below], below, out=np.zeros(len(below)), where=below > 0)
        long = np.divide(self._sums[-1] - self._sums[below], above, out=np.zeros(len(below)), where=above > 0)
        return above / len(self.points), long, short
