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
WEBHOOK_PORT: Final = 9443
"""Admission webhook of the AWS Load Balancer Controller; the API server calls it."""
METRICS_SERVER_PORT: Final = 10251
"""The EKS metrics-server add-on; the API server asks it on behalf of autoscalers."""
HTTPS_PORT: Final = 443
"""The only port that is open to the world, on the edge."""
KUBELET_PORT: Final = 10250
DNS_PORT: Final = 53

# Lengths.
IAM_ROLE_NAME_MAX: Final = 64
S3_BUCKET_NAME_MAX: Final = 63
KUBERNETES_NAME_MAX: Final = 63
"""DNS label: Services and namespaces."""
EKS_NAME_MAX: Final = 100

# Sizes.
VPC_PREFIX_MIN: Final = 16
"""EC2: a VPC is a /16 at most."""
VPC_PREFIX_MAX: Final = 18
"""A sixteenth of a /18 is a /22: 20 GPU nodes with 33 addresses each. Smaller, nodes run out of addresses for pods."""
SUBNET_PREFIX_MAX: Final = 28
"""EC2: a subnet is a /28 at least."""
LISTENER_RULE_VALUES_MAX: Final = 5
"""elasticloadbalancing: values in all conditions of one rule."""
ROOT_VOLUME_GIB_MIN: Final = 200
"""An engine image is 20 to 40 GiB unpacked, and two of them lie side by side during a rollout."""
ROOT_VOLUME_MIBPS: Final = 600
"""gp3 throughput: parallel image pulls need it, and the default of 125 makes a node's start minutes longer."""
SYSTEM_NODE_VCPUS_MIN: Final = 4
"""Gateways, DNS, monitoring and controllers of one node; with less, one of them starves."""
COMPUTE_GPU_MEMORY_GIB_MIN: Final = 40
"""The guide's floor for prefill GPUs: weights of a 70B model in 8 bits over two of them."""
COMPUTE_GPU_TFLOPS_MIN: Final = 300
"""Dense BF16: the rate of an A100 (312), the guide's floor for prefill."""
BANDWIDTH_GPU_GB_PER_SECOND_MIN: Final = 1500
"""GB/s of GPU memory: an A100's (1555). Below, a decode step is slower than people read."""
BANDWIDTH_NODE_MEMORY_GIB_MIN: Final = 512
"""The guide's floor for decode nodes: KV that waits lies in the node's memory."""

# Times, in seconds.
LOAD_BALANCER_IDLE_MAX: Final = 4000
"""elasticloadbalancing: longest idle timeout."""
DEREGISTRATION_MAX: Final = 3600
"""elasticloadbalancing: longest deregistration delay."""
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
