"""The tagged union of all stack kinds, and the stacks that each kind reads."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field, TypeAdapter

from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.network import NetworkStack
from tandem.config.registry import RegistryStack
from tandem.config.serving import ServingStack

Stack = Annotated[
    RegistryStack | NetworkStack | ClusterStack | EdgeStack | ServingStack,
    Field(discriminator="kind"),
]

STACK: Final[TypeAdapter[Stack]] = TypeAdapter(Stack)

USES: Final[dict[str, frozenset[str]]] = {
    "registry": frozenset(),
    "network": frozenset(),
    "cluster": frozenset({"network", "registry"}),
    "edge": frozenset({"network"}),
    "serving": frozenset({"registry", "network", "cluster", "edge"}),
}
"""The kinds whose outputs a kind reads. `tandem up` derives its order from this and nothing else."""
