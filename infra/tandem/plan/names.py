"""Names that are built. The only place that does it; every name's length is checked against its service's budget.

A name that does not fit is refused, not shortened: a shortened name hides which environment and site it belongs to.
Names that Pulumi completes itself (seven random characters) leave room for them.
"""

from __future__ import annotations

from tandem import limits
from tandem.config.base import StackBase
from tandem.errors import Fault, PlanError

SUFFIX = len("-1a2b3c4")
"""What Pulumi appends to the name of a resource that it may have to replace."""


def prefix(stack: StackBase) -> str:
    """What every name of a site begins with where the account or the world is the name's scope."""
    return f"{stack.environment}-{stack.site.name}"


def cluster(stack: StackBase) -> str:
    """The site's EKS cluster."""
    return _fit(stack, f"tandem-{prefix(stack)}", limits.EKS_NAME_MAX, "an EKS cluster's name")


def weights_bucket(stack: StackBase) -> str:
    """The site's bucket for checkpoints. The account id makes it unique in the world."""
    return _fit(
        stack, f"tandem-weights-{prefix(stack)}-{stack.account_id}", limits.S3_BUCKET_NAME_MAX, "a bucket's name"
    )


def logs_bucket(stack: StackBase, what: str) -> str:
    """A bucket for `what` (`flow-logs`, `access-logs`)."""
    name = f"tandem-{what}-{prefix(stack)}-{stack.account_id}"
    return _fit(stack, name, limits.S3_BUCKET_NAME_MAX, "a bucket's name")


def role(stack: StackBase, what: str) -> str:
    """Logical name of an IAM role; Pulumi completes it."""
    return _fit(stack, f"{prefix(stack)}-{what}", limits.IAM_ROLE_NAME_MAX - SUFFIX, "an IAM role's name")


def api_keys_secret(stack: StackBase) -> str:
    """The Secrets Manager secret with the gateway's API keys; the registry stack owns it."""
    return f"tandem/{stack.environment}/{stack.site.name}/gateway-api-keys"


def repository(stack: StackBase, image: str) -> str:
    """The ECR repository of `image`; its last part is the image's name."""
    return f"tandem/{stack.environment}/{image}"


def key_alias(stack: StackBase, what: str) -> str:
    """The alias of a KMS key."""
    return f"alias/tandem/{stack.environment}/{stack.site.name}/{what}"


def cluster_log_group(cluster_name: str) -> str:
    """Where EKS writes the control plane's logs: not ours to choose."""
    return f"/aws/eks/{cluster_name}/cluster"


def subnet(stack: StackBase, use: str, zone_id: str) -> str:
    """A subnet's Name tag."""
    return f"{prefix(stack)}-{use}-{zone_id}"


def _fit(stack: StackBase, name: str, budget: int, what: str) -> str:
    if len(name) <= budget:
        return name
    raise PlanError(
        [
            Fault(
                f"{prefix(stack)}: tandem:stack.environment and site.name",
                name,
                f"{what} has at most {budget} characters, and this one has {len(name)}",
                f"Shorten environment or site.name by {len(name) - budget} characters",
            )
        ]
    )
