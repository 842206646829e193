"""How the Kubernetes provider reaches a cluster: endpoint, CA, and a token that is made anew for every command."""

from __future__ import annotations

import json


def kubeconfig(*, cluster: str, region: str, endpoint: str, ca_data: str) -> str:
    """A kubeconfig without a secret in it. `ca_data` is PEM in base64; empty where it is not known yet."""
    context = {"cluster": cluster, "user": cluster}
    authority = {"certificate-authority-data": ca_data} if ca_data else {}
    command = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "tandem",
        "args": ["cluster-token", "--cluster", cluster, "--region", region],
        "interactiveMode": "Never",
        "provideClusterInfo": False,
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": cluster,
        "clusters": [{"name": cluster, "cluster": {"server": endpoint, **authority}}],
        "contexts": [{"name": cluster, "context": context}],
        "users": [{"name": cluster, "user": {"exec": command}}],
    }
    return json.dumps(document, sort_keys=True)
