"""Registers planned Kubernetes objects as the provider's own resource types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

Make = Callable[..., pulumi.Resource]

KINDS: Final[Mapping[str, Make]] = MappingProxyType(
    {
        "v1/Namespace": kubernetes.core.v1.Namespace,
        "v1/Service": kubernetes.core.v1.Service,
        "v1/ServiceAccount": kubernetes.core.v1.ServiceAccount,
        "apps/v1/Deployment": kubernetes.apps.v1.Deployment,
        "policy/v1/PodDisruptionBudget": kubernetes.policy.v1.PodDisruptionBudget,
        "networking.k8s.io/v1/NetworkPolicy": kubernetes.networking.v1.NetworkPolicy,
        "rbac.authorization.k8s.io/v1/Role": kubernetes.rbac.v1.Role,
        "rbac.authorization.k8s.io/v1/RoleBinding": kubernetes.rbac.v1.RoleBinding,
    }
)


def declare(name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.Resource:
    """One planned object as a resource called `name`. A kind that Kubernetes does not come with is a custom resource."""
    version, kind = manifest["apiVersion"], manifest["kind"]
    fields = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")}
    make = KINDS.get(f"{version}/{kind}")
    if make is not None:
        # Only the outermost fields are arguments with Python's names; nested ones go through as they stand.
        return make(name, **{_python_name(key): value for key, value in fields.items()}, opts=opts)
    custom: pulumi.Resource = kubernetes.apiextensions.CustomResource(
        name, api_version=version, kind=kind, metadata=fields["metadata"], spec=fields["spec"], opts=opts
    )
    return custom


def _python_name(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
