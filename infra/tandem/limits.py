"""Every timeout, port, quota and length that the code relies on, each with its reason.

One line each: why this value, and what breaks if it changes. A number that a person may
choose is a config field instead; its default may stand here.
"""

from __future__ import annotations

from typing import Final

# Ports. Fixed by the programs that listen, not chosen by us, unless said.
ENGINE_PORT: Final = 30000
"""HTTP port of SGLang engines: SGLang's own default; service discovery passes it to every worker."""
GATEWAY_PORT: Final = 8080
"""Port between the edge and the gateways: the deployment guide's `gateway.listen_port`."""
BOOTSTRAP_PORT: Final = 8998
"""SGLang's `--disaggregation-bootstrap-port` default. Plain HTTP without auth: reachable from decode and gateway only."""
GATEWAY_METRICS_PORT: Final = 29000
"""smg's `--prometheus-port` default."""
MOONCAKE_PORTS: Final = (15000, 17000)
"""Mooncake's RPC and TCP data ports (MC_MIN/MAX_RPC_PORT); must avoid the ephemeral range."""
SIDE_CHANNEL_PORTS: Final = (40000, 49999)
"""Pinned net.ipv4.ip_local_port_range of engine pods: ZMQ binds there, so rules can name it."""
HTTPS_PORT: Final = 443
"""The only port that is open to the world, on the edge."""
KUBELET_PORT: Final = 10250
DNS_PORT: Final = 53
NFS_PORT: Final = 2049

# Lengths.
TARGET_GROUP_NAME_MAX: Final = 32
"""elasticloadbalancing: a longer name is refused at create."""
LOAD_BALANCER_NAME_MAX: Final = 32
IAM_ROLE_NAME_MAX: Final = 64
S3_BUCKET_NAME_MAX: Final = 63
KUBERNETES_LABEL_MAX: Final = 63
KUBERNETES_NAME_MAX: Final = 63
"""DNS label: Services and namespaces."""
EKS_NAME_MAX: Final = 100

# Times, in seconds.
LOAD_BALANCER_IDLE_DEFAULT: Final = 120
"""Longest silence on a stream. Above the gateway's 15 s keep-alive comments by far; a long prefill must not be cut."""
GATEWAY_REQUEST_TIMEOUT: Final = 1800
"""smg's default; the longest answer. Edge deregistration and pod grace derive from it."""
ENGINE_TRANSFER_TIMEOUT: Final = 300
"""SGLANG_DISAGGREGATION_{BOOTSTRAP,WAITING}_TIMEOUT, same on both roles; below GATEWAY_REQUEST_TIMEOUT."""
HEALTH_PROBE_TIMEOUT: Final = 25
"""SGLang's /health takes 1 to 20 s by design: the kubelet's default of 1 s can never pass."""
PRESTOP_SECONDS: Final = 15
"""Longer than the gateway and the load balancer need to notice a pod that leaves (1-2 s, 5-10 s)."""
