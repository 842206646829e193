"""What moto says about EKS node groups: how many nodes there should be, where, and of what size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network
from typing import Any

import boto3
from botocore.config import Config

EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
"""EKS spells them in its own way."""


@dataclass(frozen=True)
class InstanceSize:
    """What one instance of a type shows; from moto's own table of instance types."""

    cores: int
    memory_bytes: int
    gpus: int


@dataclass(frozen=True)
class Subnet:
    """Where nodes are placed."""

    id: str
    cidr: IPv4Network
    vpc: IPv4Network
    """The block of its VPC that it is a part of."""
    zone: str
    zone_id: str


@dataclass(frozen=True)
class NodeGroup:
    """One node group as it should be."""

    region: str
    cluster: str
    name: str
    desired: int
    instance_type: str
    size: InstanceSize
    efa_devices: int
    subnets: tuple[Subnet, ...]
    labels: tuple[tuple[str, str], ...]
    taints: tuple[tuple[str, str, str], ...]
    """(key, value, effect), the effect as Kubernetes spells it."""
    capacity_type: str

    @property
    def key(self) -> str:
        """Tells groups apart."""
        return f"{self.region}/{self.cluster}/{self.name}"


class NodeGroups:
    """Reads those of one region. Raises botocore's errors while moto does not answer."""

    def __init__(self, endpoint: str, region: str) -> None:
        self._region = region
        session = boto3.session.Session("local", "local", region_name=region)
        config = Config(retries={"max_attempts": 1}, connect_timeout=2, read_timeout=10)
        self._eks = session.client("eks", endpoint_url=endpoint, config=config)
        self._ec2 = session.client("ec2", endpoint_url=endpoint, config=config)
        self._size = cache(self._read_size)
        self._subnet = cache(self._read_subnet)

    def read(self) -> list[NodeGroup]:
        """All node groups of all clusters, those that are being deleted left out."""
        found = []
        for cluster in self._eks.list_clusters()["clusters"]:
            for name in self._eks.list_nodegroups(clusterName=cluster)["nodegroups"]:
                described = self._eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]
                if described["status"] != "DELETING":
                    found.append(self._group(cluster, described))
        return found

    def _group(self, cluster: str, described: dict[str, Any]) -> NodeGroup:
        template = self._template(described.get("launchTemplate"))
        # A type in the launch template wins: EKS refuses both, moto fills in a default of its own.
        kind = template.get("InstanceType") or (described.get("instanceTypes") or ["t3.medium"])[0]
        interfaces = template.get("NetworkInterfaces") or []
        return NodeGroup(
            region=self._region,
            cluster=cluster,
            name=described["nodegroupName"],
            desired=int(described["scalingConfig"]["desiredSize"]),
            instance_type=kind,
            size=self._size(kind),
            efa_devices=sum(1 for item in interfaces if "efa" in str(item.get("InterfaceType", ""))),
            subnets=tuple(self._subnet(subnet) for subnet in described["subnets"]),
            labels=tuple(sorted((described.get("labels") or {}).items())),
            taints=tuple(
                (t["key"], t.get("value", ""), EFFECTS.get(t["effect"], t["effect"]))
                for t in described.get("taints") or ()
            ),
            capacity_type=described.get("capacityType", "ON_DEMAND"),
        )

    def _template(self, reference: dict[str, Any] | None) -> dict[str, Any]:
        if not reference:
            return {}
        name = (
            {"LaunchTemplateId": reference["id"]} if reference.get("id") else {"LaunchTemplateName": reference["name"]}
        )
        version = str(reference.get("version") or "$Latest")
        versions = self._ec2.describe_launch_template_versions(**name, Versions=[version])["LaunchTemplateVersions"]
        data: dict[str, Any] = versions[0]["LaunchTemplateData"] if versions else {}
        return data

    def _read_size(self, kind: str) -> InstanceSize:
        info = self._ec2.describe_instance_types(InstanceTypes=[kind])["InstanceTypes"][0]
        return InstanceSize(
            cores=info["VCpuInfo"]["DefaultVCpus"],
            memory_bytes=info["MemoryInfo"]["SizeInMiB"] * 2**20,
            gpus=sum(gpu["Count"] for gpu in (info.get("GpuInfo") or {}).get("Gpus", ())),
        )

    def _read_subnet(self, subnet: str) -> Subnet:
        found = self._ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]
        cidr = IPv4Network(found["CidrBlock"])
        vpc = self._ec2.describe_vpcs(VpcIds=[found["VpcId"]])["Vpcs"][0]
        blocks = (IPv4Network(block["CidrBlock"]) for block in vpc["CidrBlockAssociationSet"])
        own = next(block for block in blocks if cidr.subnet_of(block))
        return Subnet(subnet, cidr, own, found["AvailabilityZone"], found["AvailabilityZoneId"])
