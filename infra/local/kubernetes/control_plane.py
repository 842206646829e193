"""Rows of the control plane: the real Kubernetes components, one process each, and what they need around them."""

from __future__ import annotations

import json
import sys

from local import limits
from local.binaries import Binaries
from local.paths import LocalPaths
from local.processes import FINISHED, Process, Ready
from local.records import write_text

_GO = {"GOMAXPROCS": "4", "GOGC": "100"}
"""Components size their pools by the cores they see; many processes share this machine."""


def rows(binaries: Binaries, paths: LocalPaths, door: int) -> list[Process]:
    """The control plane's rows. `paths` are the ones inside; `door` is the host's port of the API server."""
    _write_configurations(paths)
    kube = str(binaries.kube)
    return [
        Process(
            "certificates",
            (sys.executable, "-m", "local.kubernetes.certificates", "--door", str(door)),
            ready=FINISHED,
        ),
        Process(
            "etcd", (kube, "etcd", *_etcd(paths)), _GO, Ready("http", f"http://127.0.0.1:{limits.ETCD_PORT}/health")
        ),
        Process(
            "authentication",
            (
                sys.executable,
                "-m",
                "local.kubernetes.authentication",
                "--aws",
                f"http://{limits.GATEWAY}:{limits.AWS_PORT}",
            ),
            after=("certificates",),
        ),
        Process(
            "kube-apiserver",
            (kube, "kube-apiserver", *_api_server(paths)),
            _GO,
            Ready("http", f"https://{limits.GATEWAY}:{limits.API_SERVER_PORT}/readyz", str(paths.pki / "ca.crt")),
            after=("certificates", "etcd"),
        ),
        Process(
            "kube-controller-manager",
            (kube, "kube-controller-manager", *_controller_manager(paths)),
            _GO,
            Ready("tcp", "127.0.0.1:10257"),
            after=("kube-apiserver",),
        ),
        Process(
            "kube-scheduler",
            (kube, "kube-scheduler", *_scheduler(paths)),
            _GO,
            Ready("tcp", "127.0.0.1:10259"),
            after=("kube-apiserver",),
        ),
        Process(
            "addons",
            (sys.executable, "-m", "local.kubernetes.addons"),
            ready=FINISHED,
            after=("kube-apiserver",),
        ),
        Process(
            "coredns",
            (str(binaries.coredns), "-conf", str(paths.kubernetes / "Corefile")),
            _GO,
            Ready("http", f"http://{limits.GATEWAY}:{limits.DNS_READY_PORT}/ready"),
            after=("addons",),
        ),
    ]


def kube_proxy(binaries: Binaries, paths: LocalPaths, node: str) -> Process:
    """The one kube-proxy: every node shares the namespace's network, so one set of rules serves them all.

    `node` is any node that exists: kube-proxy waits half a minute for its own Node before it writes a first rule.
    """
    flags = (
        f"--kubeconfig={paths.kubernetes}/proxy.kubeconfig",
        "--proxy-mode=nftables",
        f"--hostname-override={node}",
        f"--cluster-cidr={limits.NETWORK}",
        f"--bind-address={limits.GATEWAY}",
        "--metrics-bind-address=127.0.0.1:10249",
        f"--healthz-bind-address={limits.GATEWAY}:10256",
        # Limits of connection tracking belong to the machine, not to this namespace.
        "--conntrack-max-per-core=0",
        "--conntrack-min=0",
        "--conntrack-tcp-timeout-established=0s",
        "--conntrack-tcp-timeout-close-wait=0s",
    )
    return Process("kube-proxy", (str(binaries.kube), "kube-proxy", *flags), _GO, Ready("tcp", "127.0.0.1:10249"))


def corefile(paths: LocalPaths) -> str:
    """CoreDNS's configuration: the cluster's names and nothing else, for there is no way to any other server."""
    return f""".:53 {{
    bind {limits.GATEWAY}
    errors
    health {limits.GATEWAY}:{limits.DNS_HEALTH_PORT}
    ready {limits.GATEWAY}:{limits.DNS_READY_PORT}
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        kubeconfig {paths.kubernetes}/coredns.kubeconfig
        pods insecure
        ttl 5
    }}
    cache 5
}}
"""


def _write_configurations(paths: LocalPaths) -> None:
    write_text(paths.kubernetes / "Corefile", corefile(paths))
    webhook = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "webhook",
                "cluster": {
                    "server": f"https://127.0.0.1:{limits.TOKEN_WEBHOOK_PORT}/token",
                    "certificate-authority": str(paths.pki / "ca.crt"),
                },
            }
        ],
        "users": [{"name": "apiserver", "user": {}}],
        "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "apiserver"}}],
        "current-context": "webhook",
    }
    write_text(paths.kubernetes / "token-webhook.kubeconfig", json.dumps(webhook))


def _etcd(paths: LocalPaths) -> tuple[str, ...]:
    client, peer = f"http://127.0.0.1:{limits.ETCD_PORT}", f"http://127.0.0.1:{limits.ETCD_PEER_PORT}"
    return (
        "--name=default",
        f"--data-dir={paths.etcd}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # What a killed etcd has written is in the kernel's cache and safe; only a crash of the whole machine could lose it.
        "--unsafe-no-fsync",
        "--auto-compaction-retention=10m",
        "--log-level=warn",
    )


def _api_server(paths: LocalPaths) -> tuple[str, ...]:
    pki = paths.pki
    return (
        f"--etcd-servers=http://127.0.0.1:{limits.ETCD_PORT}",
        f"--bind-address={limits.GATEWAY}",
        f"--advertise-address={limits.GATEWAY}",
        f"--secure-port={limits.API_SERVER_PORT}",
        f"--service-cluster-ip-range={limits.SERVICES}",
        "--allow-privileged=true",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--cert-dir={paths.kubernetes}/apiserver",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/service-account.pub",
        f"--service-account-signing-key-file={pki}/service-account.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
        # Nodes' names are not in any DNS here.
        "--kubelet-preferred-address-types=InternalIP",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
        f"--proxy-client-key-file={pki}/front-proxy-client.key",
        "--enable-aggregator-routing=true",
        f"--authentication-token-webhook-config-file={paths.kubernetes}/token-webhook.kubeconfig",
        "--authentication-token-webhook-version=v1",
        "--authentication-token-webhook-cache-ttl=10s",
        # Without it a stopping API server waits a minute for watches to end.
        "--shutdown-watch-termination-grace-period=1s",
        "--v=1",
    )


def _controller_manager(paths: LocalPaths) -> tuple[str, ...]:
    kubeconfig = f"{paths.kubernetes}/controller-manager.kubeconfig"
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={paths.kubernetes}/controller-manager",
        f"--root-ca-file={paths.pki}/ca.crt",
        f"--service-account-private-key-file={paths.pki}/service-account.key",
        "--use-service-account-credentials=true",
        f"--cluster-signing-cert-file={paths.pki}/ca.crt",
        f"--cluster-signing-key-file={paths.pki}/ca.key",
        # One of a kind here: a lease would only delay its restart.
        "--leader-elect=false",
    )


def _scheduler(paths: LocalPaths) -> tuple[str, ...]:
    kubeconfig = f"{paths.kubernetes}/scheduler.kubeconfig"
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={paths.kubernetes}/scheduler",
        "--leader-elect=false",
    )
