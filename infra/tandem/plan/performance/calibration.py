"""What the roofline does not say: overheads and efficiencies, by GPU and engine.

Defaults hold where nothing was measured; `tandem plan calibrate` fits them to a bench log and writes
`facts/data/calibrations.json`'s rows, with the error that the fit has on rows it did not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from tandem.facts.tables import document


@dataclass(frozen=True)
class ErrorBar:
    """Relative errors, as shares: 0.2 is +-20 %."""

    ttft: float = 0.6
    tpot: float = 0.2
    throughput: float = 0.2


@dataclass(frozen=True)
class Calibration:
    """Parameters of one (GPU, engine)."""

    gpu: str = ""
    engine: str = ""
    memory_share: float = 0.8
    """Of the memory's peak rate when reading weights (AIConfigurator's memory scale; facts: planner 3.1)."""
    product_share: float = 0.85
    """Of a lone product's measured rate: norms, rotation and quantization of activations run between products."""
    layer_us: float = 30.0
    """Fixed time of a layer and step: launches, host (facts: planner 3.3)."""
    all_reduce_us: float = 10.0
    """Latency of one all-reduce; two a layer where GPUs share it (facts: planner 3.3)."""
    request_us: float = 0.0
    """Host time that each running request adds to a step: sampling, bookkeeping."""
    admission_steps: float = 1.0
    """Decode steps that a new prompt waits before its prefill begins."""
    error: ErrorBar = field(default_factory=ErrorBar)
    rows: int = 0
    """Measured rows behind it; 0 for the defaults."""
    architecture: str = ""
    """`dense` or `moe`: of the models behind it. Its error bar holds for no other."""

    @property
    def label(self) -> str:
        """What a reader sees beside a number."""
        return f"{self.gpu}/{self.engine}, {self.rows} rows" if self.rows else "not calibrated"

    def fitted(self, values: Mapping[str, float]) -> Calibration:
        """With these values of the `FITTED` fields."""
        return Calibration(**{**vars(self), **values})

    def error_for(self, architecture: str) -> ErrorBar:
        """The error bar on a model of this architecture: the defaults' where the calibration saw none such."""
        return self.error if architecture == self.architecture else ErrorBar()


DEFAULT = Calibration()
FITTED = ("memory_share", "product_share", "layer_us", "all_reduce_us", "request_us", "admission_steps")
"""The fields that a calibration sets."""


@cache
def calibrations() -> dict[tuple[str, str], Calibration]:
    """Shipped calibrations by (GPU, engine)."""
    return {
        (row["gpu"], row["engine"]): Calibration(**{**row, "error": ErrorBar(**row["error"])})
        for row in document("calibrations")["calibrations"]
    }


def calibration_for(gpu: str, engine: str) -> Calibration:
    """The calibration of the GPU under the engine, else the defaults: another GPU's is not borrowed."""
    return calibrations().get((gpu, engine), DEFAULT)
