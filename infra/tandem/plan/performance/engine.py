"""Seconds of a decode step and of a prefill, on one engine of `gpus` GPUs.

    step    = weights read / (gpus x BW x share) + KV read / (shards x BW x share) + layers x (a + 2 r) + u x batch
    prefill = products / (gpus x rate) + attention / (gpus x rate) + all-reduce bytes / link + layers x (a + 2 r)
    products of a step run beside the reads: the longer of the two counts

(roofline: Williams et al., CACM 2009; overheads: facts planner 3.3; all-reduce moves 2 (g-1)/g of the bytes: Patarasuk and
Yuan, JPDC 2009.) All arguments may be vectors: the search evaluates every batch size at once. The difficulty is small batches
on many GPUs, where a and r, which no data sheet names, are most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tandem.facts import measured
from tandem.facts.accelerators import Accelerator
from tandem.plan.performance.calibration import DEFAULT, Calibration
from tandem.plan.performance.formats import KV_BYTES, WeightFormat, product_tflops
from tandem.plan.shape import Experts, Shape
from tandem.plan.vectors import Array, array

RESERVED_GB = 3.5
"""Of each GPU's memory, besides weights and KV: runtime, activations, graphs (AIConfigurator; facts: planner 3.1)."""
MEMORY_USED = 0.9
"""Share of a GPU's memory that the engine takes."""
ATTENTION_SHARE = 0.45
"""Of the BF16 peak that prefill attention reaches where it was not measured (measured: 0.5 L40S to 0.62 H100)."""
KV_READ_SHARE = {"bf16": 0.8, "fp8": 0.75}
"""Of the memory's rate where KV reads were not measured (measured: facts planner 4.3)."""
LINK_SHARE = 0.5
"""Of one direction of NVLink that an all-reduce of a prompt's size reaches. A judgement: no source of the facts names it."""
PCIE_GB = 25.0
"""GB/s between GPUs without NVLink: PCIe 4.0 x16, in practice."""
NODE_GPUS = 8
"""GPUs that NVLink joins."""
FABRIC_GB = 50.0
"""GB/s of a GPU's share of the network between nodes: 400 Gbps (3,200 Gbps a node of eight)."""
MOST_NODES = 4
"""Nodes that the experts of one token lie on at most: DeepSeek-V3's routing (arXiv 2412.19437, section 2.1.2). Prefill kernels send a
token once a node; decode's low-latency kernels send it once an expert (DeepEP)."""


@dataclass(frozen=True)
class Engine:
    """One engine: a model in a format on some GPUs of a kind."""

    shape: Shape
    gpu: Accelerator
    gpus: int
    weights: WeightFormat
    kv: str = "bf16"
    data_parallel_attention: bool = False
    calibration: Calibration = DEFAULT

    @property
    def _bandwidth(self) -> float:
        return (self.gpu.bandwidth_gb_per_second or 0.0) * 1e9

    @property
    def _overhead(self) -> float:
        """Fixed seconds of one pass over the layers. A layer with experts counts twice: routing is a second block."""
        calibration = self.calibration
        blocks = self.shape.layers + self.shape.expert_layers
        reduce = 2 * calibration.all_reduce_us * self.shape.layers if self.gpus > 1 else 0.0
        return (blocks * calibration.layer_us + reduce) * 1e-6

    @property
    def product_rate(self) -> float:
        """FLOPs a second of large products on all GPUs; 0 where the GPU lacks the format."""
        found = product_tflops(self.gpu, self.weights)
        return (found or 0.0) * 1e12 * self.gpus * self.calibration.product_share

    @property
    def kv_value_bytes(self) -> float:
        """Bytes of one KV value."""
        return KV_BYTES[self.kv]

    @property
    def weight_bytes(self) -> float:
        """Of the whole model."""
        return self.shape.parameters * self.weights.weight_bytes

    @property
    def kv_pool_bytes(self) -> float:
        """What is left for KV on all GPUs together; negative where the weights do not fit."""
        each = self.gpu.memory_gib * 2**30 * MEMORY_USED - RESERVED_GB * 1e9
        return each * self.gpus - self.weight_bytes

    def kv_held_bytes(self, tokens: float) -> float:
        """What one request of `tokens` tokens holds, copies included."""
        copies = self.gpus / self.shape.kv_shards(self.gpus, by_request=self.data_parallel_attention)
        return self.shape.kv_bytes(tokens, self.kv_value_bytes) * copies

    def requests_held(self, tokens: float) -> int:
        """Requests of `tokens` tokens whose KV fits; 0 where the weights do not."""
        return max(0, int(self.kv_pool_bytes / self.kv_held_bytes(tokens)))

    def step_seconds(self, batch: Array, context: Array) -> Array:
        """One decode step over `batch` requests that hold `context` tokens each."""
        calibration = self.calibration
        parameters = self.shape.read_parameters(batch)
        speed = self._bandwidth * calibration.memory_share * self.weights.read_share
        reads = parameters * self.weights.weight_bytes / (self.gpus * speed)
        products = 2 * self.shape.active_parameters * batch / max(self.product_rate, 1.0)
        share = measured.kv_read_share(self.gpu.name, self.kv) or KV_READ_SHARE[self.kv]
        shards = self.shape.kv_shards(self.gpus, by_request=self.data_parallel_attention)
        held = (
            self.shape.state_bytes(self.kv_value_bytes) + self.shape.kv_bytes_per_token(self.kv_value_bytes) * context
        )
        kv = batch * held / (shards * self._bandwidth * share)
        result: Array = np.maximum(reads, products) + kv + self._overhead + calibration.request_us * 1e-6 * batch
        return result + self._exchange_seconds(batch, self._experts_per_token)

    def prefill_seconds(self, tokens: Array) -> Array:
        """One prompt of `tokens` tokens, alone."""
        products, attention = self.shape.prefill_flops(tokens)
        rate = measured.attention_tflops(self.gpu.name) or (self.gpu.bf16_tflops or 0.0) * ATTENTION_SHARE
        parameters = self.shape.read_parameters(tokens)
        reads = parameters * self.weights.weight_bytes / (self.gpus * self._bandwidth * self.calibration.memory_share)
        busy = np.maximum(products / max(self.product_rate, 1.0), reads)
        result: Array = busy + attention / (rate * 1e12 * self.gpus) + self._overhead
        return result + self._exchange_seconds(tokens, self._nodes_per_token)

    def _exchange_seconds(self, tokens: Array, copies: float) -> Array:
        """Of what GPUs tell one another: all-reduces, or with data-parallel attention the way to the experts and back.

        A token goes out at 8 bits and comes back at 16 (DeepEP), `copies` times.
        """
        if self.gpus == 1:
            return np.zeros_like(tokens)
        link = self.gpu.nvlink_gb_per_second / 2 * LINK_SHARE or PCIE_GB
        hidden = self.shape.hidden
        if self.data_parallel_attention:
            link = link if self.gpus <= NODE_GPUS else FABRIC_GB
            moved = self.shape.expert_layers * tokens / self.gpus * copies * hidden * 3
        else:
            moved = 2 * self.shape.layers * tokens * hidden * 2 * 2 * (self.gpus - 1) / self.gpus
        result: Array = moved / (link * 1e9)
        return result

    @property
    def _experts_per_token(self) -> int:
        return max(
            (g.feed_forward.per_token for g in self.shape.groups if isinstance(g.feed_forward, Experts)), default=0
        )

    @property
    def _nodes_per_token(self) -> float:
        """Other nodes that a prompt's token reaches: at most four hold its experts, its own among them at times."""
        nodes = self.gpus / NODE_GPUS
        return (
            min(MOST_NODES, self._experts_per_token, nodes) * (1 - 1 / nodes) if nodes > 1 else self._experts_per_token
        )

    def prefill_tokens_per_second(self, prompt: float, tokens: float) -> float:
        """Of all GPUs, when passes of `tokens` tokens of prompts of `prompt` tokens follow one another."""
        rate = (
            (measured.attention_tflops(self.gpu.name) or (self.gpu.bf16_tflops or 0.0) * ATTENTION_SHARE)
            * 1e12
            * self.gpus
        )
        attention = float(self.shape.prefill_flops(array(prompt))[1][0]) * tokens / prompt / rate
        products = float(self.shape.prefill_flops(array(tokens))[0][0]) / max(self.product_rate, 1.0)
        passed = (
            products
            + attention
            + self._overhead
            + float(self._exchange_seconds(array(tokens), self._nodes_per_token)[0])
        )
        return tokens / passed
