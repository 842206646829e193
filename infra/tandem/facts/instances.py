"""EC2 instance types that a node group may have. Source and date stand in `data/instances.json`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from tandem.facts.accelerators import Accelerator, accelerators
from tandem.facts.tables import document


@dataclass(frozen=True)
class Instance:
    """One instance type."""

    type: str
    vcpus: int
    memory_gib: float
    accelerator: Accelerator | None
    """Its GPU; None where it has none."""
    gpus: int
    network_gbps: float
    """Of the whole instance, EFA included."""
    efa_interfaces: int
    """EFA devices it can have at most."""
    nvme_gb: float
    """Local disks together; they are empty after every stop."""

    @property
    def gpu_memory_gib(self) -> float:
        """Of all its GPUs together."""
        return self.gpus * self.accelerator.memory_gib if self.accelerator else 0.0


@cache
def instances() -> MappingProxyType[str, Instance]:
    """All instance types by name."""
    rows = (
        Instance(
            type=row["type"],
            vcpus=row["vcpus"],
            memory_gib=row["memory_gib"],
            accelerator=accelerators()[row["accelerator"]] if row["accelerator"] else None,
            gpus=row["gpus"],
            network_gbps=row["network_gbps"],
            efa_interfaces=row["efa_interfaces"],
            nvme_gb=row["nvme_gb"],
        )
        for row in document("instances")["instances"]
    )
    return MappingProxyType({row.type: row for row in rows})
