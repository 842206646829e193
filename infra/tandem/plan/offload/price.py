"""Whether moving a prompt's KV between regions pays against computing it again at home.

moved:  KV bytes x price of a GB          again:  prefill GPU-seconds x price of a GPU-second
break-even price of a GB = again / bytes
"""

from __future__ import annotations

from dataclasses import dataclass

from tandem.plan.shape import Shape

UTILISATION = 0.4
"""Share of a GPU's dense peak that prefill reaches, in the AWS facts' comparison (section 4)."""


@dataclass(frozen=True)
class Comparison:
    """US dollars of one prompt's KV, either way."""

    moved_usd: float
    again_usd: float
    break_even_usd_per_gb: float
    kv_gigabytes: float

    @property
    def times(self) -> float:
        """How many times dearer moving is; below 1 it pays."""
        return self.moved_usd / self.again_usd

    @property
    def verdict(self) -> str:
        """The answer in one line."""
        if self.times >= 1:
            return (
                f"do not offload for price: moving costs {self.times:.1f}x of prefilling again; it pays below "
                f"${self.break_even_usd_per_gb:.4f} per GB"
            )
        return f"moving costs {self.times:.2f}x of prefilling again, and pays up to ${self.break_even_usd_per_gb:.4f} per GB"


def compare(
    shape: Shape, tokens: float, usd_per_gb: float, gpu_usd_per_hour: float, peak_tflops: float, value_bytes: float = 2
) -> Comparison:
    """One prompt of `tokens` tokens; `peak_tflops` is the dense rate of the GPU that would prefill again, BF16 as a rule."""
    gigabytes = shape.kv_bytes(tokens, value_bytes) / 1e9
    seconds = 2 * shape.active_parameters * tokens / (peak_tflops * 1e12 * UTILISATION)
    again = seconds * gpu_usd_per_hour / 3600
    return Comparison(gigabytes * usd_per_gb, again, again / gigabytes, gigabytes)
