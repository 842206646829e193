"""The engine's Prometheus metrics, under SGLang's own names and labels."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

GAUGES = (
    "num_running_reqs",
    "num_queue_reqs",
    "num_prefill_bootstrap_queue_reqs",
    "num_prefill_inflight_queue_reqs",
    "num_decode_prealloc_queue_reqs",
    "num_decode_transfer_queue_reqs",
    "num_retracted_reqs",
    "num_paused_reqs",
    "token_usage",
    "full_token_usage",
    "pending_prealloc_token_usage",
    "kv_available_tokens",
    "kv_used_tokens",
    "max_total_num_tokens",
    "cache_hit_rate",
    "gen_throughput",
    "utilization",
)
COUNTERS = (
    "prompt_tokens",
    "generation_tokens",
    "num_requests",
    "num_aborted_requests",
    "num_transfer_failed_reqs",
    "num_bootstrap_failed_reqs",
    "num_prefill_retries",
)
"""Without the `_total` that the exposition adds."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400)
MILLISECONDS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)
"""The real transfer histogram ends at 5000 ms too: a longer one only shows as +Inf."""
HISTOGRAMS = {
    "time_to_first_token_seconds": SECONDS,
    "inter_token_latency_seconds": SECONDS,
    "request_time_per_output_token_seconds": SECONDS,
    "e2e_request_latency_seconds": SECONDS,
    "queue_time_seconds": SECONDS,
    "kv_transfer_latency_ms": MILLISECONDS,
    "kv_transfer_bootstrap_ms": MILLISECONDS[:-1],
    "kv_transfer_alloc_ms": MILLISECONDS[:-1],
    "kv_transfer_speed_gb_s": (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100),
    "kv_transfer_total_mb": (0.1, 1, 10, 50, 100, 250, 500, 1000, 5000, 10000),
}


class Metrics:
    """All of them, with one set of labels."""

    def __init__(self, labels: dict[str, str]) -> None:
        self._registry = CollectorRegistry()
        names = tuple(labels)
        self._gauges = {n: Gauge(f"sglang:{n}", n, names, registry=self._registry).labels(**labels) for n in GAUGES}
        self._counters = {
            n: Counter(f"sglang:{n}", n, names, registry=self._registry).labels(**labels) for n in COUNTERS
        }
        self._histograms = {
            n: Histogram(f"sglang:{n}", n, names, buckets=buckets, registry=self._registry).labels(**labels)
            for n, buckets in HISTOGRAMS.items()
        }

    def set(self, name: str, value: float) -> None:
        """A gauge."""
        self._gauges[name].set(value)

    def add(self, name: str, value: float = 1) -> None:
        """A counter."""
        self._counters[name].inc(value)

    def observe(self, name: str, value: float) -> None:
        """A histogram."""
        self._histograms[name].observe(value)

    def text(self) -> bytes:
        """The exposition."""
        return generate_latest(self._registry)
