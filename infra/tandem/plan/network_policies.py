"""Who may call whom inside the namespace, as NetworkPolicies: nobody, but for the flows below.

The port table (`plan.ports`) gives both halves of each rule, the caller's egress and the callee's ingress, and the security
groups of the nodes below; so they cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tandem import limits
from tandem.config.base import Role
from tandem.plan import ports
from tandem.plan.manifests import Manifest
from tandem.plan.pods import GATEWAY, NAMESPACE, Identity
from tandem.plan.ports import Party

PREFILL: Final = Role.PREFILL.value
DECODE: Final = Role.DECODE.value
API_SERVER_PORTS: Final = (443, 6443)
"""EKS answers on the first; a control plane of one's own, as the local one, on the second."""
POD_IDENTITY_AGENT: Final = "169.254.170.23/32"
"""The EKS Pod Identity agent on every node, which gives a pod its AWS credentials."""


PARTS: Final = {GATEWAY: Party.GATEWAY, PREFILL: Party.PREFILL, DECODE: Party.DECODE}
"""The parts of a triple, as the port table calls them."""


def default_deny() -> Manifest:
    """No pod of the namespace is called or calls, unless another policy says so."""
    return _policy("default-deny", {}, ingress=[], egress=[])


def name_lookup() -> Manifest:
    """Every pod of the namespace may ask the cluster's DNS."""
    dns = [{"protocol": protocol, "port": limits.DNS_PORT} for protocol in ("UDP", "TCP")]
    return _policy("name-lookup", {}, egress=[{"ports": dns}])


def triple_policies(
    gateway: Identity,
    *,
    gateway_port: int,
    edge_cidrs: Sequence[str],
    vpc_cidr: str,
    weights_from_s3: bool,
) -> tuple[Manifest, ...]:
    """The three policies of one triple, and nothing of them reaches another revision."""
    said = ports.flows_between(gateway_port, PARTS.values())
    extra_ingress: dict[str, list[Manifest]] = {
        # The one door: only the load balancer's subnets, only the listening port.
        GATEWAY: [{"from": [_block(cidr) for cidr in edge_cidrs], "ports": _ports([(gateway_port, gateway_port)])}]
    }
    extra_egress: dict[str, list[Manifest]] = {
        GATEWAY: [{"to": [_block(vpc_cidr)], "ports": _ports((port, port) for port in API_SERVER_PORTS)}]
    }
    if weights_from_s3:
        for role in Role:
            extra_egress[role.value] = [
                # S3 has no fixed addresses; the network's own route and endpoint policy narrow it to the bucket.
                {"to": [_block("0.0.0.0/0")], "ports": _ports([(limits.HTTPS_PORT, limits.HTTPS_PORT)])},
                {"to": [_block(POD_IDENTITY_AGENT)], "ports": _ports([(80, 80)])},
            ]
    policies = []
    for part, party in PARTS.items():
        own = gateway.of(part)
        ingress = [
            {"from": [_pods(gateway.of(flow.caller))], "ports": _ports([flow.ports])}
            for flow in said
            if flow.callee is party and flow.ports
        ]
        egress = [
            {"to": [_pods(gateway.of(flow.callee))], "ports": _ports([flow.ports])}
            for flow in said
            if flow.caller is party and flow.ports
        ]
        policies.append(
            _policy(
                own.name,
                own.selector,
                ingress=[*ingress, *extra_ingress.get(part, [])],
                egress=[*egress, *extra_egress.get(part, [])],
                labels=own.labels,
            )
        )
    return tuple(policies)


def _policy(
    name: str,
    selector: dict[str, str],
    *,
    ingress: list[Manifest] | None = None,
    egress: list[Manifest] | None = None,
    labels: dict[str, str] | None = None,
) -> Manifest:
    spec: dict[str, Any] = {"podSelector": {"matchLabels": selector} if selector else {}, "policyTypes": []}
    for kind, rules in (("Ingress", ingress), ("Egress", egress)):
        if rules is not None:
            spec["policyTypes"].append(kind)
            if rules:
                spec[kind.lower()] = rules
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": labels or {"app.kubernetes.io/part-of": "tandem"},
        },
        "spec": spec,
    }


def _pods(identity: Identity) -> Manifest:
    return {"podSelector": {"matchLabels": identity.selector}}


def _block(cidr: str) -> Manifest:
    return {"ipBlock": {"cidr": cidr}}


def _ports(ranges: Iterable[tuple[int, int]]) -> list[Manifest]:
    return [{"protocol": "TCP", "port": low} | ({"endPort": high} if high != low else {}) for low, high in ranges]
