"""How long a prompt's KV takes from prefill to decode.

    time = KV bytes a token x context length / rate of one engine pair
    rate = its part of both nodes' EFA x the share counted on, or one TCP flow; the slower side decides

The difficulty is the rate: it is shared by every engine of a node, and nothing here has measured it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tandem.config.pair import Pair
from tandem.facts.transfer_rates import EFA_SHARE, TCP_FLOW_GBPS
from tandem.plan.pairs import kv_bytes_per_token
from tandem.plan.site import ClassNodes


@dataclass(frozen=True)
class TransferPlan:
    """The KV of one prompt of full context, on the wire."""

    kv_bytes: int
    rate_gbps: float
    """Gbit/s that one prefill engine and one decode engine have between them."""

    @property
    def milliseconds(self) -> int:
        """Time on the wire, rounded up."""
        return math.ceil(self.kv_bytes * 8 / (self.rate_gbps * 1e9) * 1000)


def uses_efa(transfer_backend: str) -> bool:
    """Whether the backend's KV bypasses the kernel over EFA."""
    return transfer_backend != "mooncake_tcp"


def efa_devices(transfer_backend: str, nodes: ClassNodes, gpus: int) -> int:
    """EFA devices of one engine: its share of the node's, and one at least. A device belongs to one pod."""
    return max(1, nodes.efa_interfaces * gpus // nodes.gpus) if uses_efa(transfer_backend) else 0


def plan_transfer(pair: Pair, ends: tuple[tuple[ClassNodes, int], tuple[ClassNodes, int]]) -> TransferPlan:
    """`ends`: the nodes of prefill and of decode, each with the GPUs of one engine."""
    kv_bytes = kv_bytes_per_token(pair.model, pair.kv_cache_dtype) * pair.context_length
    shares = [nodes.network_gbps * gpus / max(nodes.gpus, 1) for nodes, gpus in ends]
    rate = min(shares) * EFA_SHARE if uses_efa(pair.transfer_backend) else min(*shares, TCP_FLOW_GBPS)
    return TransferPlan(kv_bytes, rate)
