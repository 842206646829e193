"""Keeps as many nodes as moto's node groups want: one container runtime and one real kubelet for each instance.

`python -m local.kubernetes.nodes --aws URL`. It starts nothing itself: it tells the supervisor which processes should run. All
that it knows is on disk, so it can be killed at any moment.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from tandem.errors import TandemError

from local import limits
from local.binaries import Binaries, find_binaries
from local.kubernetes import control_plane, node_world
from local.kubernetes.api import KubernetesApi
from local.kubernetes.node import Node, NoRoom, inside, new_node, rows, runtime_command
from local.kubernetes.node_groups import NodeGroup, NodeGroups
from local.paths import LocalPaths, inside_paths
from local.processes import Process
from local.records import read_record, write_record
from local.regions import Region, in_order
from local.settings import Settings, load_settings

GROUP = "nodes"
"""Name of our rows' group at the supervisor."""


def adjust(
    nodes: list[Node], groups: list[NodeGroup], now: float, going: Collection[Node] = ()
) -> tuple[list[Node], list[Node], list[str]]:
    """(nodes that stay or come, nodes that leave, complaints). A group that shrinks loses its youngest nodes. Pure.

    `going` are nodes that left earlier and are not gone yet: what they hold is given to nobody.
    """
    staying: list[Node] = []
    leaving = [node for node in nodes if node.group not in {group.key for group in groups}]
    complaints: list[str] = []
    for group in groups:
        mine = [node for node in nodes if node.group == group.key]
        # A node of another type is another instance: the old one leaves, a new one comes.
        fitting = [node for node in mine if node.instance_type == group.instance_type]
        leaving += [node for node in mine if node.instance_type != group.instance_type] + fitting[group.desired :]
        staying += fitting[: group.desired]
    for group in groups:
        have = sum(1 for node in staying if node.group == group.key)
        for number in range(have, group.desired):
            try:
                staying.append(new_node(group, number, [*staying, *leaving, *going], now))
            except NoRoom as error:
                complaints.append(f"{group.key}: {error}")
                break
    return staying, leaving, complaints


class NodeController:
    """The loop. `say` takes one line for the log."""

    def __init__(
        self,
        groups: NodeGroups,
        settings: Settings,
        region: Region,
        binaries: Binaries,
        cloud: LocalPaths,
        say: Callable[[str], None],
    ) -> None:
        self._groups = groups
        self._settings = settings
        self._region = region
        self._binaries = binaries
        self._cloud = cloud
        self._paths = cloud.of(region)
        self._say = say
        record = read_record(self._paths.nodes_record)
        self._nodes = [Node.from_json(value) for value in record.get("nodes", ())]
        self._leaving = {value["name"]: Node.from_json(value) for value in record.get("leaving", ())}
        self._draining: dict[str, threading.Thread] = {}
        self._lock = threading.Lock()
        self._sent: str | None = None
        self._said: str | None = None
        self._stop = threading.Event()

    def run(self) -> None:
        """Until `stop`."""
        for node in list(self._leaving.values()):
            self._drain(node)
        while not self._stop.is_set():
            try:
                self._look()
                self._said = None
            except (BotoCoreError, ClientError, OSError, KeyError, ValueError) as error:
                # moto or the supervisor is away for a moment: what runs goes on.
                self._say_once(f"will be tried again: {error}")
            self._stop.wait(limits.MOTO_POLL_SECONDS)

    def stop(self) -> None:
        """Ends `run`."""
        self._stop.set()

    def _look(self) -> None:
        groups = self._groups.read()
        with self._lock:
            before = self._nodes
            staying, leaving, complaints = adjust(self._nodes, groups, time.time(), self._leaving.values())
            self._nodes = staying
            for node in leaving:
                self._leaving[node.name] = node
            if staying != before or leaving:
                self._write()
        for complaint in complaints:
            self._say_once(complaint)
        for node in leaving:
            self._say(f"{node.name} leaves {node.group}")
            self._drain(node)
        self._tell_supervisor()

    def _tell_supervisor(self) -> None:
        now = time.time()
        with self._lock:
            running = [n for n in self._nodes if now >= n.wanted_at + self._settings.node_start_delay_seconds]
            kept = [*running, *self._leaving.values()]
        table: list[Process] = [
            row for node in kept for row in rows(node, self._binaries, self._paths, self._region, self._settings)
        ]
        if running:
            any_node = running[0]
            table.append(
                control_plane.kube_proxy(self._binaries, self._paths, self._region, any_node.name, any_node.vpc)
            )
        question = json.dumps({"group": self._region.named(GROUP), "processes": [row.as_json() for row in table]})
        if question != self._sent:
            answer = self._ask(question)
            if not answer.get("ok"):
                raise OSError(f"supervisor: {answer.get('error')}")
            self._sent = question

    def _ask(self, question: str) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(limits.PROBE_SECONDS * 5)
            connection.connect(str(self._cloud.supervisor_socket))
            connection.sendall(question.encode() + b"\n")
            with connection.makefile("rb") as answers:
                answer: dict[str, Any] = json.loads(answers.readline())
        return answer

    def _drain(self, node: Node) -> None:
        if node.name not in self._draining:
            thread = threading.Thread(target=self._remove, args=(node,), daemon=True)
            self._draining[node.name] = thread
            thread.start()

    def _remove(self, node: Node) -> None:
        """Cordon, delete the pods with their own grace, end the processes, forget the node."""
        try:
            self._empty(node)
        except (TandemError, OSError) as error:
            self._say(f"{node.name}: not drained: {error}")
        with self._lock:
            self._leaving.pop(node.name, None)
            self._write()
        self._until_gone(node)
        folder = self._paths.nodes / node.name
        purge = (*runtime_command(node, folder, self._settings), "--purge")
        subprocess.run(inside(node, *purge), check=False, capture_output=True, timeout=limits.DRAIN_SECONDS)
        node_world.unmake(node, self._paths)
        try:
            KubernetesApi(self._paths.kubeconfig_inside).delete(f"/api/v1/nodes/{node.name}")
        except (TandemError, OSError) as error:
            self._say(f"{node.name}: its Node object stays: {error}")
        self._draining.pop(node.name, None)
        self._say(f"{node.name} is gone")

    def _empty(self, node: Node) -> None:
        api = KubernetesApi(self._paths.kubeconfig_inside)
        if api.merge(f"/api/v1/nodes/{node.name}", {"spec": {"unschedulable": True}}) is None:
            return
        deadline = time.monotonic() + limits.DRAIN_SECONDS
        query = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{node.name}"
        while time.monotonic() < deadline:
            pods = (api.get(query) or {}).get("items", [])
            if not pods:
                return
            for pod in pods:
                if "deletionTimestamp" not in pod["metadata"]:
                    api.delete(f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}")
            self._stop.wait(limits.MOTO_POLL_SECONDS)

    def _until_gone(self, node: Node) -> None:
        """Returns when the supervisor runs nothing of the node any more."""
        deadline = time.monotonic() + limits.DRAIN_SECONDS
        while time.monotonic() < deadline:
            try:
                self._tell_supervisor()
                listed = self._ask(json.dumps({"processes": True}))["processes"]
            except (OSError, ValueError, KeyError):
                listed = [{"name": node.name}]
            if not any(entry["name"].endswith(node.name) for entry in listed):
                return
            self._stop.wait(limits.READY_POLL_SECONDS * 4)

    def _write(self) -> None:
        record = {
            "nodes": [_told(node, "wanted") for node in self._nodes],
            "leaving": [_told(node, "leaving") for node in self._leaving.values()],
        }
        write_record(self._paths.nodes_record, record)

    def _say_once(self, text: str) -> None:
        if text != self._said:
            self._said = text
            self._say(text)


def _told(node: Node, state: str) -> dict[str, Any]:
    """The node's record, with what `status` shows of it."""
    return {**node.as_json(), "state": state, "node_group": node.group.rpartition("/")[2]}


def main() -> int:
    """Runs until SIGTERM."""
    parser = argparse.ArgumentParser(prog="local.kubernetes.nodes", description=__doc__)
    parser.add_argument("--aws", required=True, help="URL of moto")
    parser.add_argument("--region", required=True, help="whose node groups get nodes")
    options = parser.parse_args()
    cloud = inside_paths()
    settings = load_settings(cloud.settings)
    region = next(region for region in in_order(settings.regions) if region.name == options.region)
    if shutil.which("nsenter") is None:
        print(
            "nsenter: not found - nodes' processes enter their mount namespaces by it. Run: apt-get install util-linux"
        )
        return 3
    controller = NodeController(
        NodeGroups(options.aws, region.name), settings, region, find_binaries(settings), cloud, say
    )
    signal.signal(signal.SIGTERM, lambda *_: controller.stop())
    controller.run()
    return 0


def say(text: str) -> None:
    """One line of the log."""
    print(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
