"""What every pod of a triple has: labels, selectors, environment variables, and the names that meet elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tandem.config.base import Colour, Role

NAMESPACE: Final = "tandem"
GATEWAY: Final = "gateway"
"""The third value of the role label, beside the two roles of engines."""
API_KEYS_SECRET: Final = "gateway-api-keys"
ENGINE_ACCOUNT: Final = "engine"
"""Service account of engines; the cluster stack lets it read checkpoints."""
GATEWAY_ACCOUNT: Final = "gateway"
"""Service account of gateways; it may watch the pods of its namespace."""

REVISION_LABEL: Final = "tandem.dev/pair-revision"
COLOUR_LABEL: Final = "tandem.dev/colour"
ROLE_LABEL: Final = "tandem.dev/role"
NODE_CLASS_LABEL: Final = "tandem.dev/node-class"
ZONE_ID_LABEL: Final = "topology.k8s.aws/zone-id"


@dataclass(frozen=True)
class Identity:
    """Which pods: one role of one colour at one pair revision."""

    colour: Colour
    revision: str
    role: str
    """`prefill`, `decode` or `gateway`."""

    @property
    def selector(self) -> dict[str, str]:
        """Matches these pods and no pod of another revision, whatever its colour."""
        return {REVISION_LABEL: self.revision, COLOUR_LABEL: self.colour.value, ROLE_LABEL: self.role}

    @property
    def labels(self) -> dict[str, str]:
        """The selector's labels and the ones that only inform."""
        return {**self.selector, "app.kubernetes.io/part-of": "tandem", "app.kubernetes.io/name": self.role}

    @property
    def name(self) -> str:
        """Of the workload. It holds the revision, because a workload's selector cannot change."""
        return f"{self.role}-{self.colour.value}-{self.revision}"

    @property
    def service(self) -> str:
        """Of the Service. It holds no revision: what refers to it stays, and only the selector moves."""
        return f"{self.role}-{self.colour.value}"

    def of(self, role: Role | str) -> Identity:
        """The same triple's other part."""
        return Identity(self.colour, self.revision, str(role))


@dataclass(frozen=True)
class EnvironmentVariable:
    """One variable of a container, from exactly one source."""

    name: str
    value: str | None = None
    field_path: str | None = None
    """A field of the pod, for example `status.podIP`."""
    secret_key: str | None = None
    """A key of the Secret `gateway-api-keys`."""


API_KEY_VARIABLES: Final = (
    EnvironmentVariable("TANDEM_API_KEY", secret_key="api_key"),
    EnvironmentVariable("TANDEM_ADMIN_API_KEY", secret_key="admin_api_key"),
)
"""Expanded by Kubernetes in arguments (`$(TANDEM_API_KEY)`), so that no key stands in a pod's specification."""
