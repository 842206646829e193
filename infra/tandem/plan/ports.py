"""The port table: who calls whom on which port, and why. Security groups and network policies both come from it.

Everything that is not a row is refused. A row is one direction of who *opens* the connection; answers need no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final, Literal

from tandem import limits
from tandem.errors import Fault

Protocol = Literal["tcp", "udp", "all"]
PortRange = tuple[int, int]
"""First and last port, both included."""


class Party(StrEnum):
    """Who can stand at an end of a row."""

    WORLD = "world"
    """Any address outside."""
    EDGE = "edge"
    """The load balancer."""
    GATEWAY = "gateway"
    PREFILL = "prefill"
    DECODE = "decode"
    MONITORING = "monitoring"
    """What scrapes metrics; runs on system nodes."""
    NODES = "nodes"
    """Every node and what runs on it, whatever its class."""
    CONTROL_PLANE = "control-plane"
    """The network interfaces of the EKS control plane."""
    EFA = "efa"
    """The EFA devices of GPU nodes of both classes."""


class Group(StrEnum):
    """A security group. A node carries `nodes` and the group of its class's role; EFA devices carry `efa` alone."""

    EDGE = "edge"
    GATEWAY = "gateway"
    PREFILL = "prefill"
    DECODE = "decode"
    EFA = "efa"
    NODES = "nodes"
    CONTROL_PLANE = "control-plane"


GROUP_OF: Final[dict[Party, Group]] = {
    Party.EDGE: Group.EDGE,
    Party.GATEWAY: Group.GATEWAY,
    # Monitoring shares the system nodes with the gateways, and a group belongs to a node.
    Party.MONITORING: Group.GATEWAY,
    Party.PREFILL: Group.PREFILL,
    Party.DECODE: Group.DECODE,
    Party.NODES: Group.NODES,
    Party.CONTROL_PLANE: Group.CONTROL_PLANE,
    Party.EFA: Group.EFA,
}
"""The group whose members a party's traffic comes from and goes to. The world has none: it is an address range."""


@dataclass(frozen=True)
class Flow:
    """One row."""

    caller: Party
    callee: Party
    protocol: Protocol
    ports: PortRange | None
    """None only with protocol `all`."""
    service: str
    """What listens there, one word: the same word for the same listener."""
    why: str


def table(gateway_port: int) -> tuple[Flow, ...]:
    """All rows. `gateway_port` is where the gateways listen for the edge; the rest is fixed by the programs."""
    http = _one(limits.ENGINE_PORT)
    bootstrap = _one(limits.BOOTSTRAP_PORT)
    metrics = _one(limits.GATEWAY_METRICS_PORT)
    https = _one(limits.HTTPS_PORT)
    kubelet = _one(limits.KUBELET_PORT)
    dns = _one(limits.DNS_PORT)
    side, kv = limits.SIDE_CHANNEL_PORTS, limits.MOONCAKE_PORTS
    world, edge, gateway, prefill, decode = Party.WORLD, Party.EDGE, Party.GATEWAY, Party.PREFILL, Party.DECODE
    monitoring, nodes, plane = Party.MONITORING, Party.NODES, Party.CONTROL_PLANE
    return (
        Flow(world, edge, "tcp", https, "https", "clients; the only door from outside"),
        Flow(edge, gateway, "tcp", _one(gateway_port), "gateway", "requests and health checks of the load balancer"),
        Flow(gateway, prefill, "tcp", http, "engine", "requests, health and loads"),
        Flow(gateway, decode, "tcp", http, "engine", "requests, health and loads"),
        Flow(gateway, prefill, "tcp", bootstrap, "bootstrap", "looks whether it answers before it adds the engine"),
        Flow(decode, prefill, "tcp", bootstrap, "bootstrap", "asks for the route to the ranks of prefill; heartbeat"),
        Flow(decode, prefill, "tcp", http, "engine", "has a prompt prefilled again after it was retracted"),
        Flow(prefill, decode, "tcp", side, "side-channel", "ZMQ side channels, one a rank"),
        Flow(decode, prefill, "tcp", side, "side-channel", "ZMQ side channels, one a rank"),
        Flow(prefill, decode, "tcp", kv, "kv", "Mooncake handshakes, and the KV itself over TCP"),
        Flow(decode, prefill, "tcp", kv, "kv", "Mooncake handshakes, and the KV itself over TCP"),
        Flow(monitoring, prefill, "tcp", http, "engine", "scrapes /metrics"),
        Flow(monitoring, decode, "tcp", http, "engine", "scrapes /metrics"),
        Flow(monitoring, gateway, "tcp", metrics, "gateway-metrics", "scrapes /metrics"),
        Flow(plane, nodes, "tcp", kubelet, "kubelet", "logs, exec and metrics of pods"),
        Flow(
            plane,
            nodes,
            "tcp",
            _one(limits.WEBHOOK_PORT),
            "webhook",
            "admission webhook of the load balancer controller",
        ),
        Flow(
            plane, nodes, "tcp", _one(limits.METRICS_SERVER_PORT), "metrics-server", "resource metrics for autoscalers"
        ),
        Flow(nodes, plane, "tcp", https, "api-server", "the Kubernetes API"),
        Flow(nodes, nodes, "tcp", kubelet, "kubelet", "resource metrics of every node"),
        Flow(nodes, nodes, "tcp", dns, "dns", "names inside the cluster"),
        Flow(nodes, nodes, "udp", dns, "dns", "names inside the cluster"),
        Flow(nodes, world, "tcp", https, "https", "images, weights and AWS APIs"),
        # EFA is matched by group, never by address: without both self rules the fabric is silently not used.
        Flow(Party.EFA, Party.EFA, "all", None, "efa", "KV and collectives between GPU nodes"),
    )


def flows_between(gateway_port: int, parties: Iterable[Party]) -> tuple[Flow, ...]:
    """The rows whose both ends are among `parties`."""
    wanted = frozenset(parties)
    return tuple(flow for flow in table(gateway_port) if {flow.caller, flow.callee} <= wanted)


@dataclass(frozen=True)
class Rule:
    """One security group rule: one group, one direction, one peer, one port range."""

    name: str
    """Unique among all rules; the resource's logical name."""
    group: Group
    direction: Literal["ingress", "egress"]
    peer: Group | None
    """None: any address."""
    protocol: Protocol
    ports: PortRange | None
    why: str


def security_group_rules(gateway_port: int) -> tuple[Rule, ...]:
    """Both halves of every row. Rows that differ only in who runs on the same nodes become one rule."""
    rules: dict[str, Rule] = {}
    for flow in table(gateway_port):
        caller, callee = GROUP_OF.get(flow.caller), GROUP_OF.get(flow.callee)
        if caller is not None:
            _add(rules, caller, "egress", callee, flow)
        if callee is not None:
            _add(rules, callee, "ingress", caller, flow)
    return tuple(rules.values())


def double_use(gateway_port: int, at: str) -> Iterator[Fault]:
    """Ports that two different listeners of one party would share; `at` names the field that chose the port."""
    listeners = sorted(
        {
            (flow.callee, flow.protocol, flow.service, flow.ports)
            for flow in table(gateway_port)
            if flow.ports is not None
        }
    )
    for (callee, protocol, service, ports), (other_callee, other_protocol, other, other_ports) in combinations(
        listeners, 2
    ):
        if (callee, protocol) != (other_callee, other_protocol) or service == other:
            continue
        if ports[0] <= other_ports[1] and other_ports[0] <= ports[1]:
            yield Fault(
                at,
                str(gateway_port),
                f"{callee} listens on {_shown(ports)}/{protocol} for {service}, on {_shown(other_ports)} for {other}",
                "Choose another port",
            )


def _add(
    rules: dict[str, Rule], group: Group, direction: Literal["ingress", "egress"], peer: Group | None, flow: Flow
) -> None:
    word = "from" if direction == "ingress" else "to"
    name = f"{group}-{word}-{peer or 'world'}-{flow.protocol}" + (f"-{_shown(flow.ports)}" if flow.ports else "")
    same = rules.get(name)
    why = flow.why if same is None else f"{same.why}; {flow.why}"
    rules[name] = Rule(name, group, direction, peer, flow.protocol, flow.ports, why)


def _one(port: int) -> PortRange:
    return (port, port)


def _shown(ports: PortRange) -> str:
    return str(ports[0]) if ports[0] == ports[1] else f"{ports[0]}-{ports[1]}"
