"""All engines that a role could run: instance type x GPUs of one engine x weight format."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tandem.facts import prices
from tandem.facts.instances import Instance, instances
from tandem.facts.schemes import Support, schemes
from tandem.facts.transfer_rates import EFA_SHARE, TCP_FLOW_GBPS
from tandem.plan.performance.calibration import calibration_for
from tandem.plan.performance.engine import Engine
from tandem.plan.performance.formats import FORMATS, product_tflops
from tandem.plan.shape import Shape

FAMILIES = {"bf16": "bf16", "fp8": "w8a8", "int8": "w8a8", "w4a16": "w4a16", "w4a8": "w4a8", "fp4": "w4a4"}
"""Weight format -> the quantization family that stack files use."""


@dataclass(frozen=True)
class Option:
    """One kind of engine on one instance type."""

    instance: Instance
    engine: Engine
    usd_per_hour: float
    """Of one node."""
    proved: bool = True
    """Whether the engine was seen running the format on this GPU; the loader accepts it in any case."""

    @property
    def engines_per_node(self) -> int:
        """Engines that share a node."""
        return self.instance.gpus // self.engine.gpus

    @property
    def kv_gbps(self) -> float:
        """Rate that one engine's KV leaves or enters with: its share of EFA, or one TCP flow where there is none."""
        share = self.instance.network_gbps * self.engine.gpus / self.instance.gpus
        return share * EFA_SHARE if self.instance.efa_interfaces else min(share, TCP_FLOW_GBPS)

    @property
    def label(self) -> str:
        """For tables."""
        return f"{self.instance.type} TP{self.engine.gpus} {self.engine.weights.name}"


def options(
    shape: Shape,
    allowed: Collection[str] | None = None,
    formats: Collection[str] | None = None,
    engine: str = "sglang",
) -> tuple[list[Option], list[str]]:
    """Every engine that holds the model and at least one token of KV, and the types without an on-demand price."""
    found, unpriced = [], []
    for name, instance in instances().items():
        gpu = instance.accelerator
        if gpu is None or gpu.bandwidth_gb_per_second is None or (allowed is not None and name not in allowed):
            continue
        price = prices.instance_usd_per_hour(name)
        if price is None:
            unpriced.append(name)
            continue
        for weights in FORMATS.values():
            family = FAMILIES[weights.name]
            able = [s for s in schemes().values() if s.family == family and s.runs(gpu.capability, shape.architecture)]
            if (
                not able
                or product_tflops(gpu, weights) is None
                or (formats is not None and weights.name not in formats)
            ):
                continue
            proved = any(s.on(gpu.capability) is not Support.UNPROVED for s in able)
            for gpus in (1, 2, 4, 8):
                if gpus > instance.gpus:
                    continue
                made = Engine(shape, gpu, gpus, weights, calibration=calibration_for(gpu.name, engine))
                if made.requests_held(1):
                    found.append(Option(instance, made, price, proved))
    return found, unpriced
