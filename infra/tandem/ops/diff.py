"""Compares what an environment's programs declare with what was recorded of them: neither engine nor cloud is asked.

The programs run in a process of their own: the Pulumi SDK keeps what is declared in state of the whole process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tandem.errors import TandemError
from tandem.ops.environment import ROOT, LoadedEnvironment
from tandem.plan.impact import Change, Kind, Resource, changes, joined

RECORDED: Final = ROOT / "tests" / "tandem" / "graph" / "recorded"
"""One file a stack: `tandem diff ENV --record` writes them, nobody edits them."""
Graphs = Mapping[str, Mapping[str, Any]]
"""Stack -> `resources`, `uses` and `cost`, as `python -m tandem.graph` prints them."""


@dataclass(frozen=True)
class Difference:
    """What `up` would do to stacks that stand as they were recorded."""

    environment: str
    changes: Mapping[str, tuple[Change, ...]]
    """By stack; stacks without any are left out."""
    usd_per_hour_before: float
    usd_per_hour_after: float
    costs: Mapping[str, float]
    """`stack: part` -> US dollars per hour that it costs more (or, below 0, less)."""

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "counts": self.counts()}

    def counts(self) -> dict[str, int]:
        """Resources by what happens to them."""
        every = [change.kind for of_stack in self.changes.values() for change in of_stack]
        return {kind.value: every.count(kind) for kind in Kind}

    def as_text(self) -> str:
        """For a person."""
        lines: list[str] = []
        for stack, of_stack in self.changes.items():
            lines.append(stack)
            for change in of_stack:
                kind, _, name = change.urn.rsplit("$", 1)[-1].rpartition("::")
                why = f" - forced by {', '.join(change.forced_by)}" if change.forced_by else ""
                inputs = "" if why or not change.inputs else f": {', '.join(change.inputs)}"
                lines.append(f"  {change.kind:<8} {kind.rsplit('::', 1)[-1]} {name}{why or inputs}")
                lines += [f"           {change.downtime}"] if change.downtime else []
        lines += [f"  {delta:+10.4f} $/h {part}" for part, delta in self.costs.items()]
        counted = ", ".join(f"{count} {kind}" for kind, count in self.counts().items())
        money = f"${self.usd_per_hour_before:.2f} -> ${self.usd_per_hour_after:.2f} per hour on demand, without traffic"
        return "\n".join([*lines, f"{self.environment}: {counted}; {money}"])


def run(environment: LoadedEnvironment, recorded: Path = RECORDED) -> Difference:
    """Against the graphs in `recorded`. Raises `TandemError` where a program fails or a record cannot be read."""
    before = read(environment, recorded)
    after = declared(environment.name)
    try:
        return compare(environment.name, before, after)
    except (KeyError, TypeError, AttributeError) as error:
        fix = "Record them again from the stack files as they were applied"
        raise TandemError(f"{recorded}: does not hold graphs as this release records them. {fix}") from error


def declared(environment: str) -> Graphs:
    """What the programs declare as the stack files stand. Raises `TandemError` with their own words."""
    command = [sys.executable, "-m", "tandem.graph", environment]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TandemError(f"environment {environment}: its programs do not run to their end\n{done.stderr.strip()}")
    graphs: Graphs = json.loads(done.stdout)
    return graphs


def record(environment: LoadedEnvironment, folder: Path = RECORDED) -> tuple[Path, ...]:
    """Writes the graphs of all stacks to `folder`, and gives the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for stack, graph in declared(environment.name).items():
        file = folder / f"{stack}.json"
        file.write_text(json.dumps(graph, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        written.append(file)
    return tuple(written)


def read(environment: LoadedEnvironment, folder: Path = RECORDED) -> Graphs:
    """What was recorded of the environment. Raises `TandemError` where nothing was."""
    found = {stack: folder / f"{stack}.json" for stack in environment.stacks}
    present = {stack: file for stack, file in found.items() if file.exists()}
    if not present:
        fix = f"Run, where the stack files are as they were applied: tandem diff {environment.name} --record"
        raise TandemError(f"{folder}: nothing is recorded of environment {environment.name}. {fix}")
    try:
        return {stack: json.loads(file.read_text(encoding="utf-8")) for stack, file in present.items()}
    except (OSError, ValueError) as error:
        raise TandemError(f"{folder}: not readable as recorded graphs ({error}). Record them again") from error


def compare(environment: str, before: Graphs, after: Graphs) -> Difference:
    """The difference of two graphs of one environment."""
    found: dict[str, tuple[Change, ...]] = {}
    for change in changes(_joined(before), _joined(after)):
        stack = change.urn.split("::", 1)[0].removeprefix("urn:pulumi:")
        found[stack] = (*found.get(stack, ()), change)
    old, new = _costs(before), _costs(after)
    deltas = {part: round(new.get(part, 0) - old.get(part, 0), 4) for part in sorted(old.keys() | new.keys())}
    return Difference(
        environment,
        found,
        round(sum(old.values()), 4),
        round(sum(new.values()), 4),
        {part: delta for part, delta in deltas.items() if delta},
    )


def _joined(graphs: Graphs) -> dict[str, Resource]:
    uses = {stack: tuple(graph["uses"]) for stack, graph in graphs.items()}
    return joined({stack: _resources(graph) for stack, graph in graphs.items()}, uses)


def _resources(graph: Mapping[str, Any]) -> dict[str, Resource]:
    resources = (
        Resource(
            urn=row["urn"],
            type=row["type"],
            parent=row["parent"],
            dependencies=tuple(row["dependencies"]),
            fed_by={name: tuple(urns) for name, urns in row["fed_by"].items()},
            inputs=row["inputs"],
            known_as=tuple(row["known_as"]),
            ignored=tuple(row["ignored"]),
        )
        for row in graph["resources"]
    )
    return {resource.urn: resource for resource in resources}


def _costs(graphs: Graphs) -> dict[str, float]:
    return {f"{stack}: {part}": usd for stack, graph in graphs.items() for part, usd in graph["cost"].items()}
