"""Objects that a cluster has from its start: the DNS Service, and what CoreDNS may read.

`python -m local.kubernetes.addons --files DIR` applies them; it can be run at any time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from local import limits
from local.kubernetes.api import KubernetesApi
from local.paths import RegionPaths


def objects() -> list[tuple[str, dict[str, Any]]]:
    """Path and content of every object, in the order in which they can be made."""
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "tandem:coredns"}}
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    rules = [
        {"apiGroups": [""], "resources": ["endpoints", "services", "pods", "namespaces"], "verbs": ["list", "watch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]},
    ]
    binding = {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "tandem:coredns"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tandem:coredns"}],
    }
    ports = [{"name": "dns", "port": 53, "protocol": "UDP"}, {"name": "dns-tcp", "port": 53, "protocol": "TCP"}]
    metadata = {"name": "kube-dns", "namespace": "kube-system", "labels": {"k8s-app": "kube-dns"}}
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        # No selector: CoreDNS is a process of the local cloud, not a pod.
        "spec": {"clusterIP": str(limits.DNS_SERVICE), "ports": ports},
    }
    endpoints = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kube-dns",
            "namespace": "kube-system",
            "labels": {"kubernetes.io/service-name": "kube-dns"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [str(limits.GATEWAY)], "conditions": {"ready": True}}],
        "ports": ports,
    }
    return [
        (f"{rbac}/clusterroles/tandem:coredns", {**role, "kind": "ClusterRole", "rules": rules}),
        (f"{rbac}/clusterrolebindings/tandem:coredns", {**role, "kind": "ClusterRoleBinding", **binding}),
        ("/api/v1/namespaces/kube-system/services/kube-dns", service),
        ("/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices/kube-dns", endpoints),
    ]


def main() -> int:
    """Apply every object. Returns an exit code; the supervisor tries again after a failure."""
    parser = argparse.ArgumentParser(prog="local.kubernetes.addons", description=__doc__)
    parser.add_argument("--files", type=Path, required=True, help="folder of the region")
    api = KubernetesApi(RegionPaths(parser.parse_args().files).kubeconfig_inside)
    for path, value in objects():
        api.apply(path, value)
    return 0


if __name__ == "__main__":
    sys.exit(main())
