"""The one Kubernetes provider of a stack."""

from __future__ import annotations

import pulumi_kubernetes as kubernetes


def kubernetes_provider(cluster: str, kubeconfig: str) -> kubernetes.Provider:
    """The provider of the cluster. Objects are applied on the server's side, so fields that others own stay theirs."""
    return kubernetes.Provider(
        "kubernetes",
        kubeconfig=kubeconfig,
        # Without it a new endpoint or CA would replace every object.
        cluster_identifier=cluster,
        enable_server_side_apply=True,
    )
