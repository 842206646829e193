"""EKS clusters that answer with the local control plane, and with what EKS itself adds to the VPC.

moto invents an endpoint and a certificate. Here the cluster *is* the local Kubernetes: `describe_cluster` gives its
real address and CA. The CA file is read on every answer: the control plane may make it after the cluster was created.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ControlPlane:
    """A real Kubernetes that stands for the EKS cluster of a region."""

    endpoint: str
    ca_file: Path


def install(control_planes: Mapping[str, ControlPlane]) -> None:
    """Make moto's EKS answer with them, by region; elsewhere moto's made-up answers stay."""
    from moto.eks import models
    from moto.eks.exceptions import InvalidParameterException

    issuer_template = "https://oidc.eks.{region}.amazonaws.com/id/{id}"
    original = models.Cluster

    class LocalCluster(original):  # type: ignore[misc, valid-type]
        def __init__(self, **arguments: Any) -> None:
            super().__init__(**arguments)
            self.resources_vpc_config: dict[str, Any] = dict(arguments["resources_vpc_config"])
            identity = models.random.get_random_hex(32).upper()
            self.identity = {"oidc": {"issuer": issuer_template.format(region=arguments["region_name"], id=identity)}}
            self._account, self._region = arguments["account_id"], arguments["region_name"]
            self.resources_vpc_config.setdefault("endpointPublicAccess", True)
            self.resources_vpc_config.setdefault("endpointPrivateAccess", False)
            if self.resources_vpc_config["endpointPublicAccess"]:
                self.resources_vpc_config.setdefault("publicAccessCidrs", ["0.0.0.0/0"])
            self._add_security_group()

        @property
        def endpoint(self) -> str:
            plane = control_planes.get(self._region)
            return plane.endpoint if plane else str(self.endpoint_value)

        @endpoint.setter
        def endpoint(self, value: str) -> None:
            self.endpoint_value = value

        @property
        def certificate_authority(self) -> dict[str, str]:
            plane = control_planes.get(self._region)
            if plane is None or not plane.ca_file.exists():
                return dict(self.ca_value)
            return {"data": base64.b64encode(plane.ca_file.read_bytes()).decode("ascii")}

        @certificate_authority.setter
        def certificate_authority(self, value: dict[str, str]) -> None:
            self.ca_value = value

        def _ec2(self) -> Any:
            from moto.ec2.models import ec2_backends

            return ec2_backends[self._account][self._region]

        def _add_security_group(self) -> None:
            """EKS puts its network interfaces into a group of its own in the VPC of the subnets."""
            ec2 = self._ec2()
            subnet_ids = self.resources_vpc_config.get("subnetIds") or []
            known = [ec2.get_subnet(subnet_id) for subnet_id in subnet_ids if self._has_subnet(subnet_id)]
            if len(known) != len(subnet_ids) or not known:
                raise InvalidParameterException(message=f"The subnet IDs {subnet_ids} do not all exist")
            vpc_id = known[0].vpc_id
            group = ec2.create_security_group(
                f"eks-cluster-sg-{self.name}-{models.random.get_random_hex(8)}",
                f"EKS created security group applied to ENI that is attached to EKS Control Plane nodes ({self.name})",
                vpc_id=vpc_id,
                tags={"Name": f"eks-cluster-sg-{self.name}", f"kubernetes.io/cluster/{self.name}": "owned"},
            )
            self.resources_vpc_config["vpcId"] = vpc_id
            self.resources_vpc_config["clusterSecurityGroupId"] = group.id

        def _has_subnet(self, subnet_id: str) -> bool:
            return any(subnet_id in subnets for subnets in self._ec2().subnets.values())

        def forget_security_group(self) -> None:
            group_id = self.resources_vpc_config["clusterSecurityGroupId"]
            if self._ec2().get_security_group_from_id(group_id) is not None:
                self._ec2().delete_security_group(group_id=group_id)

    delete_cluster = models.EKSBackend.delete_cluster
    update_cluster_config = models.EKSBackend.update_cluster_config

    def delete_with_group(self: Any, name: str) -> Any:
        cluster = delete_cluster(self, name)
        cluster.forget_security_group()
        return cluster

    def update_keeping_network(self: Any, name: str, **changes: Any) -> Any:
        """moto replaces the whole network configuration by the part that an update names; EKS merges."""
        before = dict(self.describe_cluster(name).resources_vpc_config)
        cluster = update_cluster_config(self, name=name, **changes)
        cluster.resources_vpc_config = {**before, **(changes.get("resources_vpc_config") or {})}
        return cluster

    models.Cluster = LocalCluster
    models.EKSBackend.delete_cluster = delete_with_group
    models.EKSBackend.update_cluster_config = update_keeping_network
