"""The `cluster` stack as a person writes it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Annotated, Literal

from pydantic import Field, NonNegativeInt, PositiveInt, ValidationInfo, field_validator

from tandem import limits
from tandem.config import node_classes
from tandem.config.base import Name, NodeClass, StackBase, Strict
from tandem.config.cidr import Cidr, PrivateCidr, network
from tandem.config.network import ZoneId
from tandem.config.patterns import shaped
from tandem.errors import Fault
from tandem.facts import efa
from tandem.facts.instances import instances
from tandem.units import Days, GiB

ReservationId = Annotated[
    str, shaped(r"cr-[0-9a-f]+", "must be the id of a capacity reservation", "cr-0123456789abcdef0")
]
PrincipalArn = Annotated[
    str,
    shaped(
        r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/.+",
        "must be the ARN of an IAM role or user",
        "arn:aws:iam::123456789012:role/platform-engineer",
    ),
]


class OnDemand(Strict):
    """Nodes are bought by the second, where AWS has any left."""

    kind: Literal["on_demand"] = "on_demand"


class Reservation(Strict):
    """Nodes come out of a capacity reservation that was bought elsewhere, and from nowhere else."""

    kind: Literal["reservation"]
    id: ReservationId
    """Of the reservation; Tandem never makes one."""


class CapacityBlock(Strict):
    """Nodes come out of a capacity block that was bought elsewhere; it ends on its own day."""

    kind: Literal["capacity_block"]
    id: ReservationId
    """Of the block's reservation; Tandem never buys one."""


class NodeGroupConfig(Strict):
    """Nodes of one instance type."""

    node_class: NodeClass
    instance_type: str
    """For example `p5en.48xlarge`. Its numbers must suit the class."""
    nodes_min: NonNegativeInt
    nodes_max: PositiveInt
    """It is also the cost ceiling."""
    nodes: NonNegativeInt
    """Nodes at the start. Afterwards an autoscaler owns the number, and this stack never sets it back."""
    zones: tuple[ZoneId, ...] = ()
    """AZ ids. Empty: all zones of the network for system nodes, the KV zone for GPU nodes."""
    efa: bool = True
    """False: no EFA device even where the type has them; KV then goes over TCP."""
    root_volume: GiB = 200
    """Of each node, for images and logs."""
    capacity: Annotated[OnDemand | Reservation | CapacityBlock, Field(discriminator="kind")] = OnDemand()
    ami_release: (
        Annotated[str, shaped(r"1\.\d+\.\d+-\d{8}", "must be a release of EKS's node image", "1.35.2-20261115")] | None
    ) = None
    """Release of the EKS node image, for example `1.35.2-20261115`. None: the newest when the group is made."""

    @field_validator("nodes_max")
    @classmethod
    def _above_min(cls, value: int, info: ValidationInfo) -> int:
        least = info.data.get("nodes_min")
        if least is not None and value < least:
            raise ValueError(f"below nodes_min = {least} | Write {least} or more, or lower nodes_min")
        return value

    @field_validator("nodes")
    @classmethod
    def _between(cls, value: int, info: ValidationInfo) -> int:
        least, most = info.data.get("nodes_min"), info.data.get("nodes_max")
        if least is not None and most is not None and not least <= value <= most:
            raise ValueError(f"outside nodes_min = {least} to nodes_max = {most} | Write a number between them")
        return value

    @property
    def efa_devices(self) -> int:
        """EFA devices that each node gets."""
        layout = efa.layouts().get(self.instance_type) if self.efa else None
        return layout.devices if layout else 0


class ClusterStack(StackBase):
    """The EKS cluster and its node groups."""

    kind: Literal["cluster"]
    kubernetes_version: Annotated[str, shaped(r"1\.\d{2}", "must be a minor version of Kubernetes", '"1.35"')]
    """Minor version, written with quotes: `"1.35"`. Moved by hand, one at a time."""
    support: Literal["standard", "extended"] = "standard"
    """`standard`: AWS upgrades it when its version's support ends. `extended`: it stays, at six times the price."""
    service_cidr: PrivateCidr = "172.20.0.0/16"
    """Addresses of Services; never changed, and never another network's."""
    public_access: tuple[Cidr, ...] = ()
    """Ranges that may reach the API server from outside the VPC. Empty: none."""
    administrators: tuple[PrincipalArn, ...] = ()
    """IAM roles and users that administer the cluster. Whoever creates it is none by that."""
    log_retention: Days = 90
    """Days that the control plane's logs are kept."""
    deletion_protection: bool = True
    """True: the cluster cannot be deleted, also not by `down`."""
    addons: dict[str, str | None] = Field(
        default_factory=lambda: dict.fromkeys(
            (
                "vpc-cni",
                "kube-proxy",
                "eks-pod-identity-agent",
                "coredns",
                "metrics-server",
                "eks-node-monitoring-agent",
            )
        )
    )
    """EKS add-on -> version. None: the cluster version's default, chosen when the add-on is made."""
    node_groups: Annotated[dict[Name, NodeGroupConfig], Field(min_length=1)]

    @field_validator("public_access")
    @classmethod
    def _not_everybody(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any(network(cidr).prefixlen == 0 for cidr in value):
            raise ValueError(
                "opens the API server to everybody | Name the ranges that administer it, or leave it empty"
            )
        return value

    @field_validator("service_cidr")
    @classmethod
    def _service_size(cls, value: str) -> str:
        if not 12 <= network(value).prefixlen <= 24:
            raise ValueError("EKS takes a /12 to /24 | Write a /16")
        return value

    def faults(self, at: str) -> Iterator[Fault]:
        """What the fields contradict between one another; `at` names the stack in messages."""
        for name, group in self.node_groups.items():
            yield from _type_faults(group, f"{at}.node_groups.{name}")
        yield from self._class_faults(at)
        yield from self._domain_faults(at)

    def groups_of(self, *classes: NodeClass) -> dict[str, NodeGroupConfig]:
        """The node groups of the classes, by name."""
        return {name: group for name, group in self.node_groups.items() if group.node_class in classes}

    def _class_faults(self, at: str) -> Iterator[Fault]:
        needed = {NodeClass.SYSTEM: "DNS, gateways and controllers run there, and the others are tainted"}
        if self.site.kind == "home":
            needed[NodeClass.BANDWIDTH] = "a home site decodes"
        else:
            needed[NodeClass.COMPUTE] = "a prefill site prefills"
        for node_class, reason in needed.items():
            if not self.groups_of(node_class):
                rule = f"needs a node group of class {node_class}: {reason}"
                yield Fault(f"{at}.node_groups", ", ".join(self.node_groups), rule, "Add one")
        for node_class in NodeClass:
            groups = self.groups_of(node_class)
            types = {group.instance_type for group in groups.values()}
            if node_class is not NodeClass.SYSTEM and len(types) > 1:
                rule = f"groups of class {node_class} must be of one type: the engines of a role are all alike"
                yield Fault(f"{at}.node_groups", f"{', '.join(sorted(types))}", rule, "Choose one of them")

    def _domain_faults(self, at: str) -> Iterator[Fault]:
        gpu = self.groups_of(NodeClass.COMPUTE, NodeClass.BANDWIDTH)
        zones = sorted({zone for group in gpu.values() for zone in group.zones})
        if len(zones) > 1:
            rule = "prefill and decode nodes are one KV domain, and KV does not leave its zone"
            fix = "Leave `zones` of GPU groups out: the network stack's kv_zone is meant"
            yield Fault(f"{at}.node_groups", ", ".join(zones), rule, fix)
        with_efa = {name: group for name, group in gpu.items() if group.efa_devices}
        for (first, one), (second, other) in combinations(with_efa.items(), 2):
            if not efa.compatible(one.instance_type, other.instance_type):
                rule = (
                    f"EFA of {other.instance_type} and of {one.instance_type} (group {first}) do not reach each other"
                )
                fix = "Choose two types of one fabric, or set `efa: false` in both and move KV over TCP"
                yield Fault(f"{at}.node_groups.{second}.instance_type", other.instance_type, rule, fix)


def _type_faults(group: NodeGroupConfig, where: str) -> Iterator[Fault]:
    at = f"{where}.instance_type"
    instance = instances().get(group.instance_type)
    if instance is None:
        near = node_classes.nearest(group.instance_type, group.node_class)
        yield Fault(at, group.instance_type, "not an instance type that Tandem has numbers of", f"Did you mean {near}?")
        return
    reason = node_classes.misfit(instance, group.node_class)
    if reason is not None:
        near = node_classes.nearest(group.instance_type, group.node_class)
        yield Fault(at, group.instance_type, reason, f"For example {near}")
    if group.root_volume < limits.ROOT_VOLUME_GIB_MIN and instance.accelerator is not None:
        rule = f"images of engines need a root volume of {limits.ROOT_VOLUME_GIB_MIN} GiB"
        yield Fault(f"{where}.root_volume", str(group.root_volume), rule, f"Write {limits.ROOT_VOLUME_GIB_MIN}")
