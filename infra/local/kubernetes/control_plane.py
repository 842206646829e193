"""Rows of the control plane: the real Kubernetes components, one process each, and what they need around them."""

from __future__ import annotations

import json
import sys

from local import limits
from local.binaries import Binaries
from local.paths import RegionPaths
from local.processes import FINISHED, STARTED, Process, Ready
from local.records import write_text
from local.regions import Region

_GO = {"GOMAXPROCS": "4", "GOGC": "100"}
"""Components size their pools by the cores they see; many processes share this machine."""


def rows(binaries: Binaries, paths: RegionPaths, region: Region, door: int) -> list[Process]:
    """The control plane's rows of one region. `paths` are the ones inside; `door` is the host's port of its API server."""
    _write_configurations(paths)
    kube = str(binaries.kube)
    files = ("--files", str(paths.root))

    def row(name: str, argv: tuple[str, ...], ready: Ready, *after: str, env: dict[str, str] = _GO) -> Process:
        return Process(
            region.named(name),
            argv,
            env,
            ready,
            after=tuple(region.named(other) for other in after),
            network=str(region.network_file),
        )

    def ours(module: str, *arguments: str) -> tuple[str, ...]:
        return (sys.executable, "-m", f"local.kubernetes.{module}", *files, *arguments)

    api_server = f"https://{limits.GATEWAY}:{limits.API_SERVER_PORT}"
    aws = f"http://{limits.AWS_ADDRESS}:{limits.AWS_PORT}"
    return [
        row(
            "certificates",
            ours("certificates", "--door", str(door), "--address", str(region.address)),
            FINISHED,
            env={},
        ),
        row("etcd", (kube, "etcd", *_etcd(paths)), Ready("http", f"http://127.0.0.1:{limits.ETCD_PORT}/health")),
        row(
            "authentication",
            ours("authentication", "--aws", aws, "--region", region.name),
            STARTED,
            "certificates",
            env={},
        ),
        row(
            "kube-apiserver",
            (kube, "kube-apiserver", *_api_server(paths)),
            Ready("http", f"{api_server}/readyz", str(paths.pki / "ca.crt")),
            *("certificates", "etcd"),
        ),
        row(
            "kube-controller-manager",
            (kube, "kube-controller-manager", *_controller_manager(paths)),
            Ready("tcp", "127.0.0.1:10257"),
            "kube-apiserver",
        ),
        row(
            "kube-scheduler",
            (kube, "kube-scheduler", *_scheduler(paths)),
            Ready("tcp", "127.0.0.1:10259"),
            "kube-apiserver",
        ),
        row("addons", ours("addons"), FINISHED, "kube-apiserver", env={}),
        row(
            "coredns",
            (str(binaries.coredns), "-conf", str(paths.kubernetes / "Corefile")),
            Ready("http", f"http://{limits.GATEWAY}:{limits.DNS_READY_PORT}/ready"),
            "addons",
        ),
    ]


def kube_proxy(binaries: Binaries, paths: RegionPaths, region: Region, node: str, vpc: str) -> Process:
    """A region's one kube-proxy: all of its nodes share the namespace's network, so one set of rules serves them all.

    `node` is any node that exists: kube-proxy waits half a minute for its own Node before it writes a first rule. `vpc` is the CIDR
    that the nodes and pods are in.
    """
    flags = (
        f"--kubeconfig={paths.kubernetes}/proxy.kubeconfig",
        "--proxy-mode=nftables",
        f"--hostname-override={node}",
        f"--cluster-cidr={vpc}",
        f"--bind-address={limits.GATEWAY}",
        "--metrics-bind-address=127.0.0.1:10249",
        f"--healthz-bind-address={limits.GATEWAY}:10256",
        # Limits of connection tracking belong to the machine, not to this namespace.
        "--conntrack-max-per-core=0",
        "--conntrack-min=0",
        "--conntrack-tcp-timeout-established=0s",
        "--conntrack-tcp-timeout-close-wait=0s",
    )
    return Process(
        region.named("kube-proxy"),
        (str(binaries.kube), "kube-proxy", *flags),
        _GO,
        Ready("tcp", "127.0.0.1:10249"),
        network=str(region.network_file),
    )


def corefile(paths: RegionPaths) -> str:
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


def _write_configurations(paths: RegionPaths) -> None:
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


def _etcd(paths: RegionPaths) -> tuple[str, ...]:
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


def _api_server(paths: RegionPaths) -> tuple[str, ...]:
    pki = paths.pki
    return (
        f"--etcd-servers=http://127.0.0.1:{limits.ETCD_PORT}",
        "--bind-address=0.0.0.0",
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


def _controller_manager(paths: RegionPaths) -> tuple[str, ...]:
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


def _scheduler(paths: RegionPaths) -> tuple[str, ...]:
    kubeconfig = f"{paths.kubernetes}/scheduler.kubeconfig"
    return (
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={paths.kubernetes}/scheduler",
        "--leader-elect=false",
    )
