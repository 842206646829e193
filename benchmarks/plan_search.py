"""Claim: the search looks at 10^6 candidates a second or more on two cores (AIConfigurator: some 500 to 650, as published).

Run: `.venv/bin/python benchmarks/plan_search.py`. A candidate is one priced deployment: a split's pair of sized pools, or a
single pool at one batch size. The median of five searches.
"""

from __future__ import annotations

import statistics
import sys
import time

from tandem.plan.capacity.search import search
from tandem.plan.capacity.traffic import Objectives, Traffic
from tandem.plan.lengths import Lengths
from tandem.plan.shape import shape_of

RUNS = 5
CLAIM = 1e6


def main() -> int:
    shape = shape_of("meta-llama/Llama-3.1-70B")
    traffic = Traffic(10, Lengths.lognormal(7, 1, 32, 32_000), 300)
    rates = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        answer = search(shape, traffic, Objectives(3_000, 50))
        rates.append(answer.candidates / (time.perf_counter() - begin))
    rate = statistics.median(rates)
    print(f"{rate:,.0f} candidates a second, {answer.candidates:,} candidates a search, claim {CLAIM:,.0f}")
    return 0 if rate >= CLAIM else 1


if __name__ == "__main__":
    sys.exit(main())
