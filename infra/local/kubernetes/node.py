"""One simulated node: who it is, where its addresses lie, and the rows of processes that it is made of.

A subnet's upper half belongs to nodes and pods. Its first block holds the nodes' own addresses, each further block the pods of one
node, so no two parts can give out the same address.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, fields
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

from local import limits
from local.binaries import Binaries
from local.kubernetes.node_groups import NodeGroup, Subnet
from local.paths import RegionPaths
from local.processes import FINISHED, Process, Ready
from local.regions import Region
from local.routes import vpc_gateway
from local.settings import Settings

PODS_PREFIX = 26
"""62 pods a node, 31 nodes in a /20."""
WORLDS = Path("/run/nodes")
"""Files that hold the nodes' mount namespaces open. They live and die with the local cloud's own namespace."""
KUBELET_ROOT = Path("/var/lib/kubelet")
"""The device-plugin socket's place below it is fixed in the kubelet; each node's mount namespace has its own."""
HEALTH_PORT = 10248


@dataclass(frozen=True)
class Node:
    """One node, as it is kept on disk: the same instance after any restart."""

    name: str
    group: str
    """Key of its node group."""
    region: str
    zone: str
    zone_id: str
    address: str
    pods: str
    """CIDR of its pods."""
    vpc: str
    """CIDR of the VPC that both are in."""
    instance_id: str
    instance_type: str
    cores: int
    memory_bytes: int
    gpus: int
    efa_devices: int
    labels: dict[str, str]
    taints: tuple[tuple[str, str, str], ...]
    wanted_at: float
    """Unix time at which its group first wanted it."""

    def as_json(self) -> dict[str, Any]:
        """For `nodes.json`."""
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Node:
        """The inverse of `as_json`; what a reader of the record was told beside it is left out."""
        known = {field.name: value[field.name] for field in fields(Node)}
        return Node(**{**known, "taints": tuple(tuple(taint) for taint in value["taints"])})


class NoRoom(Exception):
    """A subnet has no block left."""


def new_node(group: NodeGroup, number: int, others: Collection[Node], now: float) -> Node:
    """Node number `number` of the group, in the subnet whose turn it is. Raises `NoRoom`."""
    subnet = group.subnets[number % len(group.subnets)]
    address, pods = _addresses(subnet, others)
    name = f"ip-{str(address).replace('.', '-')}.{group.region}.compute.internal"
    labels = {
        **dict(group.labels),
        "eks.amazonaws.com/nodegroup": group.name,
        "eks.amazonaws.com/capacityType": group.capacity_type,
        "node.kubernetes.io/instance-type": group.instance_type,
        "topology.kubernetes.io/region": group.region,
        "topology.kubernetes.io/zone": subnet.zone,
        "topology.k8s.aws/zone-id": subnet.zone_id,
    }
    return Node(
        name=name,
        group=group.key,
        region=group.region,
        zone=subnet.zone,
        zone_id=subnet.zone_id,
        address=str(address),
        pods=str(pods),
        vpc=str(subnet.vpc),
        instance_id="i-" + hashlib.sha256(f"{name}{now}".encode()).hexdigest()[:17],
        instance_type=group.instance_type,
        cores=group.size.cores,
        memory_bytes=group.size.memory_bytes,
        gpus=group.size.gpus,
        efa_devices=group.efa_devices,
        labels=labels,
        taints=group.taints,
        wanted_at=now,
    )


def _addresses(subnet: Subnet, others: Collection[Node]) -> tuple[IPv4Address, IPv4Network]:
    upper = list(subnet.cidr.subnets(prefixlen_diff=1))[1]
    prefix = max(PODS_PREFIX, min(upper.prefixlen + 2, 30))
    blocks = list(upper.subnets(new_prefix=prefix))
    taken_blocks = {other.pods for other in others}
    taken_addresses = {other.address for other in others}
    block = next((block for block in blocks[1:] if str(block) not in taken_blocks), None)
    address = next((address for address in blocks[0].hosts() if str(address) not in taken_addresses), None)
    if block is None or address is None:
        raise NoRoom(f"subnet {subnet.id} ({subnet.cidr}): has no room for another node")
    return address, block


def rows(node: Node, binaries: Binaries, paths: RegionPaths, region: Region, settings: Settings) -> Iterator[Process]:
    """The node's processes: its world, its container runtime, its kubelet, its devices."""
    folder = paths.nodes / node.name
    socket = folder / "cri.sock"
    world, runtime, kubelet = (f"{part}-{node.name}" for part in ("world", "runtime", "kubelet"))
    python = (sys.executable, "-m")
    network = str(region.network_file)
    maker = ("local.kubernetes.node_world", "--files", str(paths.root), json.dumps(node.as_json()))
    yield Process(world, (*python, *maker), ready=FINISHED, network=network)
    yield Process(
        runtime,
        inside(node, *runtime_command(node, folder, settings)),
        ready=Ready("file", str(socket)),
        after=(world,),
        network=network,
    )
    yield Process(
        kubelet,
        inside(node, str(binaries.kube), "kubelet", *kubelet_flags(node, folder)),
        {"GOMAXPROCS": "2"},
        Ready("http", f"http://{node.address}:{HEALTH_PORT}/healthz"),
        after=(runtime,),
        network=network,
    )
    devices = {"nvidia.com/gpu": node.gpus, "vpc.amazonaws.com/efa": node.efa_devices}
    wanted = [word for name, count in devices.items() if count for word in ("--resource", f"{name}={count}")]
    if wanted:
        plugin = ("local.kubernetes.devices", "--socket-dir", str(KUBELET_ROOT / "device-plugins"), *wanted)
        yield Process(f"devices-{node.name}", inside(node, *python, *plugin), after=(kubelet,), network=network)


def inside(node: Node, *command: str) -> tuple[str, ...]:
    """`command` in the node's mount namespace: the kubelet and its runtime must share one, or secrets' volumes stay empty."""
    return ("nsenter", f"--mount={world_file(node)}", "--", *command)


def world_file(node: Node) -> Path:
    """Holds the node's mount namespace."""
    return WORLDS / node.name


def runtime_command(node: Node, folder: Path, settings: Settings) -> tuple[str, ...]:
    """The container runtime's command line."""
    return (
        sys.executable,
        "-m",
        "local.kubernetes.runtime",
        *("--node", node.name),
        *("--state", str(folder)),
        *("--socket", str(folder / "cri.sock")),
        *("--subnet", node.pods),
        *("--bridge", limits.BRIDGE),
        *("--gateway", str(vpc_gateway(IPv4Network(node.vpc)))),
        *("--images", str(settings.images_folder)),
        *(word for name, image in settings.images_as.items() for word in ("--image-as", f"{name}={image}")),
    )


def kubelet_flags(node: Node, folder: Path) -> tuple[str, ...]:
    """The kubelet's flags."""
    labels = ",".join(f"{key}={value}" for key, value in sorted(node.labels.items()))
    return (
        f"--config={folder}/kubelet.json",
        f"--kubeconfig={folder}/kubeconfig",
        f"--root-dir={KUBELET_ROOT}",
        f"--cert-dir={folder}/pki",
        f"--node-ip={node.address}",
        f"--hostname-override={node.name}",
        f"--node-labels={labels}",
        f"--simulated-cores={node.cores}",
        f"--simulated-memory-bytes={node.memory_bytes}",
    )


def kubelet_configuration(node: Node, folder: Path, pki: Path, *, user_namespace: bool) -> dict[str, Any]:
    """The kubelet's configuration file. What is switched off needs cgroups or a whole machine of one's own."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": node.address,
        "port": limits.KUBELET_PORT,
        "healthzBindAddress": node.address,
        "healthzPort": HEALTH_PORT,
        "providerID": f"aws:///{node.zone}/{node.instance_id}",
        "registerWithTaints": [{"key": k, "value": v, "effect": e} for k, v, e in node.taints],
        "containerRuntimeEndpoint": f"unix://{folder}/cri.sock",
        "podLogsDir": f"{folder}/logs",
        "volumePluginDir": f"{folder}/volume-plugins",
        "tlsCertFile": f"{folder}/pki/kubelet.crt",
        "tlsPrivateKeyFile": f"{folder}/pki/kubelet.key",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": False},
            "x509": {"clientCAFile": f"{pki}/ca.crt"},
        },
        "authorization": {"mode": "AlwaysAllow"},
        "clusterDNS": [str(limits.DNS_SERVICE)],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "cgroupDriver": "cgroupfs",
        "failCgroupV1": False,
        "failSwapOn": False,
        "localStorageCapacityIsolation": False,
        "makeIPTablesUtilChains": False,
        "evictionHard": {},
        "imageGCHighThresholdPercent": 100,
        "serializeImagePulls": False,
        "registryPullQPS": 0,
        "nodeStatusUpdateFrequency": "5s",
        "nodeLeaseDurationSeconds": 20,
        "syncFrequency": "10s",
        "featureGates": {"KubeletInUserNamespace": True} if user_namespace else {},
    }
