"""`python -m tandem.graph ENV [--unknown]`: the environment's graphs and their cost, as one JSON document, stack by stack.

With `--unknown` as in the preview before each stack is first applied: what AWS chooses reads `[unknown]`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from tandem.errors import TandemError
from tandem.graph import record
from tandem.ops import environment as environments
from tandem.plan.cost import site_cost


def main(name: str, *, unknown: bool = False) -> None:
    """Prints them. A fault of the stack files ends it as it ends any command."""
    try:
        stacks = environments.load(name).stacks
        graphs = {
            stack: {
                "cost": {
                    f"{part.count} x {part.name}": round(part.usd_per_hour, 4)
                    for part in site_cost({stack: stacks[stack]}).parts
                },
                "uses": sorted(stacks[stack].uses.values()),
                "resources": [asdict(resource) for resource in recorded.resources],
            }
            for stack, recorded in record.environment(stacks, unknown=unknown).items()
        }
    except TandemError as error:
        print(error, file=sys.stderr)
        raise SystemExit(error.exit_code) from error
    print(json.dumps(graphs, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1], unknown="--unknown" in sys.argv[2:])
