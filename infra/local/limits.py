"""Every address, port, time and size that the local cloud's own processes rely on, each with its reason.

Ports that programs of the product use stand in `tandem.limits`.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import Final

# Addresses. Part of the contract (0001, 0005): manifests, certificates and kubeconfigs name them. RFC 2544 keeps 198.18.0.0/15 for tests
# of networks, so no VPC that an environment may have overlaps with them.
BACKBONE: Final = IPv4Network("198.19.0.0/24")
"""Joins the regions' networks, and leads to moto."""
AWS_ADDRESS: Final = IPv4Address("198.19.0.1")
"""The backbone's own address: moto listens on it."""
FIRST_REGION: Final = 10
"""Place on the backbone of the first region."""
GATEWAY: Final = IPv4Address("198.18.0.1")
"""The same in every region's network: its API server and CoreDNS listen on it."""
SERVICES: Final = IPv4Network("10.96.0.0/16")
KUBERNETES_SERVICE: Final = IPv4Address("10.96.0.1")
"""First address of SERVICES: the API server gives it to the Service `kubernetes`."""
DNS_SERVICE: Final = IPv4Address("10.96.0.10")
"""The address EKS uses for kube-dns in this range; every kubelet writes it into pods' resolv.conf."""
BRIDGE: Final = "tandem0"
"""In each region's network: nodes, pods and load balancers hang on it."""
BACKBONE_BRIDGE: Final = "backbone"

AWS_PORT: Final = 4566
API_SERVER_PORT: Final = 6443
ETCD_PORT: Final = 2379
ETCD_PEER_PORT: Final = 2380
TOKEN_WEBHOOK_PORT: Final = 6444
"""On loopback, where pods (each in a network namespace of its own) cannot reach it."""
DNS_HEALTH_PORT: Final = 8053
DNS_READY_PORT: Final = 8054
EDGE_CONTROL_PORT: Final = 9900
KUBELET_PORT: Final = 10250

# Times, in seconds.
UP_SECONDS: Final = 60.0
"""Longest wait of `up`. It is ready in under 10 s on 2 idle cores; a machine that builds something is several times slower."""
LOCK_SECONDS: Final = 180.0
"""Longest wait for another `up` or `down`: both end within UP_SECONDS plus STOP_SECONDS."""
STOP_SECONDS: Final = 4.0
"""From SIGTERM to SIGKILL. etcd and moto flush within 1 s; all of their state is safe against a kill anyway."""
DOWN_SECONDS: Final = 15.0
"""Longest wait of `down` for the keeper before it is killed: STOP_SECONDS plus what a busy machine adds."""
READY_POLL_SECONDS: Final = 0.05
"""A port tells nobody when it begins to listen, so readiness has to be asked for."""
PROBE_SECONDS: Final = 2.0
"""Longest wait for one answer of one readiness check."""
BACK_OFF_FIRST: Final = 0.1
BACK_OFF_MAX: Final = 5.0
"""Longest pause before a restart: what dies for an outer reason is back soon after the reason is gone."""
BACK_OFF_RESET: Final = 10.0
"""A process that lived as long as this is restarted without a pause."""
MOTO_POLL_SECONDS: Final = 0.7
"""moto announces nothing. A change of a node group is seen within 1 s; one round costs moto about 10 ms."""
DRAIN_SECONDS: Final = 60.0
"""Longest grace that pods of a leaving node get; the node goes after that, as EKS's forced drain does after 15 minutes."""

# Sizes.
DISK_BYTES_MIN: Final = 512 * 1024 * 1024
"""Free space that `up` asks for. etcd takes 130 MB at once and panics where it cannot; logs and images' scratch take the rest."""
LOG_BYTES_MAX: Final = 16 * 1024 * 1024
"""A process's log is cut at this size; one older piece is kept beside it."""
EVENTS_MAX: Final = 200
"""Events that `status` keeps: some days of a quiet cloud, some minutes of one that is being tested by kills."""
