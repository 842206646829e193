"""What runs of the local cloud, and what happened to it: read from outside, without asking anything that runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from local.locks import holder
from local.paths import LocalPaths
from local.records import read_record
from local.regions import in_order


@dataclass(frozen=True)
class Status:
    """The local cloud at one moment; its JSON form is part of the contract (0001)."""

    running: bool
    """Whether a keeper and the namespace live. Not whether everything in it is ready."""
    processes: list[dict[str, Any]]
    """`pid` is the host's."""
    doors: dict[str, int] = field(default_factory=dict)
    """Port on 127.0.0.1 of each door."""
    nodes: list[dict[str, Any]] = field(default_factory=list)
    kubeconfigs: dict[str, str] = field(default_factory=dict)
    """By region: the administrator's way into its cluster."""
    recorded_only: list[Any] = field(default_factory=list)
    """Resources that the local AWS only remembers, because moto lacks them."""
    events: list[dict[str, str]] = field(default_factory=list)
    """Oldest first."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def state_of(self, name: str) -> str:
        """State of process `name`, `absent` if there is none."""
        return next((str(process["state"]) for process in self.processes if process["name"] == name), "absent")


def read_status(paths: LocalPaths) -> Status:
    """Put together what the keeper, the supervisor, the nodes and the local AWS have on record."""
    keeper, first = holder(paths.keeper_lock), holder(paths.namespace_lock)
    kept, supervised = read_record(paths.keeper_record), read_record(paths.supervisor_record)
    events = sorted([*kept.get("events", ()), *supervised.get("events", ())], key=lambda event: str(event["at"]))
    if keeper is None or not first:
        return Status(
            running=False, processes=_host_processes(kept, keeper, first), recorded_only=_recorded(paths), events=events
        )
    pids = _host_pids(first)
    regions = in_order(read_record(paths.settings).get("regions", ()))
    processes = [{**process, "pid": pids.get(process["pid"])} for process in supervised.get("processes", ())]
    return Status(
        running=True,
        processes=[*_host_processes(kept, keeper, first), *processes],
        doors=kept.get("doors", {}),
        nodes=[node for region in regions for node in read_record(paths.of(region).nodes_record).get("nodes", [])],
        kubeconfigs={region.name: str(paths.of(region).kubeconfig) for region in regions},
        recorded_only=_recorded(paths),
        events=events,
    )


def _host_processes(kept: dict[str, Any], keeper: int | None, first: int | None) -> list[dict[str, Any]]:
    """The keeper, its twin and the namespace's first process, in the form of the supervisor's rows."""
    took_over = sum(1 for event in kept.get("events", ()) if event["what"] == "took-over")
    found = {
        "keeper": (keeper, took_over),
        "keeper-twin": (kept.get("twin") if keeper else None, 0),
        "supervisor": (first or None, int(kept.get("namespace_restarts", 0))),
    }
    return [
        {"name": name, "pid": pid, "state": "ready", "restarts": restarts, "since": None, "last_exit": None}
        for name, (pid, restarts) in found.items()
        if pid is not None
    ]


def _host_pids(first: int, proc: Path = Path("/proc")) -> dict[int, int]:
    """Process ids inside the namespace of process `first` -> the host's."""
    try:
        world = (proc / str(first) / "ns/pid").readlink()
    except OSError:
        return {}
    pids: dict[int, int] = {}
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if (folder / "ns/pid").readlink() != world:
                continue
            status = (folder / "status").read_text()
        except OSError:
            continue
        chain = next(line.split() for line in status.splitlines() if line.startswith("NSpid:"))
        pids[int(chain[-1])] = int(folder.name)
    return pids


def _recorded(paths: LocalPaths) -> list[Any]:
    try:
        value = json.loads((paths.root / "aws-recorded.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    return list(value.values()) if isinstance(value, dict) else list(value)
