"""What a cluster stack gives to the stacks of its site."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from tandem.config.base import NodeClass
from tandem.outputs.contract import Contract


class NodeGroup(BaseModel):
    """One node group: what one of its nodes has, and how many there may be."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    node_class: NodeClass
    instance_type: str
    zone_ids: tuple[str, ...]
    vcpus: int
    memory_gib: float
    accelerator: str | None = None
    """As `facts.accelerators` names it; None on system nodes. The engine leaves a field without a value out of outputs."""
    gpus: int
    efa_interfaces: int
    """EFA devices that the launch template gives a node; 0 where EFA is switched off."""
    nodes_min: int
    nodes_max: int


class ClusterOutputs(Contract):
    """The EKS cluster and its node groups."""

    KIND: ClassVar[str] = "cluster"
    VERSION: ClassVar[int] = 1

    name: str
    arn: str
    endpoint: str
    ca_data: str
    """The cluster's CA certificate, PEM in base64, as a kubeconfig has it."""
    kubernetes_version: str
    oidc_issuer: str
    kv_zone_id: str
    """AZ id in which the GPU nodes stand."""
    node_groups: tuple[NodeGroup, ...]

    def groups_of(self, node_class: NodeClass) -> tuple[NodeGroup, ...]:
        """The node groups of one class."""
        return tuple(group for group in self.node_groups if group.node_class is node_class)
