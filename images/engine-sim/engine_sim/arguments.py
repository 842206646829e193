"""SGLang's command line, parsed from the table that was read out of its wheel."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

SUFFIXES = {"k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12}
BINARY_SUFFIXES = {"K": 2**10, "M": 2**20, "G": 2**30, "B": 2**30, "T": 2**40}


def human_int(text: str) -> int:
    """`4096`, `64k` (thousands) or `64K` (binary) as a count. Raises `ValueError` for anything else."""
    unit = SUFFIXES.get(text[-1:]) or BINARY_SUFFIXES.get(text[-1:])
    return int(float(text[:-1]) * unit) if unit else int(text)


CONVERTERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "json": json.loads,
    "human_int": human_int,
}


def build_parser() -> argparse.ArgumentParser:
    """A parser with every flag of the simulated release; it exits with 2 on a fault, as the real one does."""
    table = json.loads(resources.files("engine_sim").joinpath("data/engine_flags.json").read_text())
    parser = argparse.ArgumentParser(prog="engine_sim", description="simulated SGLang " + table["version"])
    for flag in table["flags"]:
        names = [flag["flag"], *flag.get("aliases", ())]
        options: dict[str, Any] = {"dest": flag["field"], "default": flag.get("default")}
        match flag["action"]:
            case "store_true":
                options["action"] = "store_true"
            case "boolean_optional":
                options["action"] = argparse.BooleanOptionalAction
            case _:
                options["type"] = CONVERTERS[flag["type"]]
                options["required"] = flag.get("required", False)
                if "choices" in flag:
                    options["choices"] = flag["choices"]
                if "nargs" in flag:
                    options["nargs"] = flag["nargs"]
        parser.add_argument(*names, **options)
    return parser


@dataclass(frozen=True)
class Arguments:
    """What the simulation reads of the command line; `everything` is what `/server_info` reports."""

    host: str
    port: int
    model_path: str
    served_model_name: str
    mode: str
    """`null`, `prefill` or `decode`."""
    transfer_backend: str
    bootstrap_port: int
    tp_size: int
    page_size: int
    dtype: str
    kv_cache_dtype: str
    """The literal, as given: the real decode compares strings, so `bf16` and `bfloat16` differ."""
    quantization: str | None
    context_length: int | None
    max_total_tokens: int | None
    max_running_requests: int | None
    chunked_prefill_size: int
    reserved_decode_tokens: int
    allocation_policy: str
    radix_cache: bool
    cache_report: bool
    metrics: bool
    metric_labels: dict[str, str]
    api_key: str | None
    admin_api_key: str | None
    skip_warmup: bool
    everything: dict[str, Any]
    command: tuple[str, ...]

    @property
    def engine_type(self) -> str:
        """The `engine_type` label of the real metrics."""
        return self.mode if self.mode in ("prefill", "decode") else "unified"


SECRETS = ("api_key", "admin_api_key", "ssl_keyfile_password", "watermark_key", "watermark_key_b")


def parse(argv: Sequence[str]) -> Arguments:
    """Reads a command line. Exits with 2 and argparse's message where the real parser would."""
    parser = build_parser()
    given = parser.parse_args(list(argv))
    values: dict[str, Any] = vars(given)
    if given.disaggregation_mode == "prefill" and given.disaggregation_transfer_backend == "fake":
        parser.error("Prefill server does not support the fake transfer backend.")
    if given.tp_size < 1:
        parser.error("argument --tp-size: must be at least 1")
    served = given.served_model_name or given.model_path
    page_size = given.page_size or 1
    chunk = given.chunked_prefill_size if given.chunked_prefill_size and given.chunked_prefill_size > 0 else 8192
    if chunk % page_size:
        parser.error(f"chunked_prefill_size ({chunk}) must be divisible by page_size ({page_size})")
    decode = given.disaggregation_mode == "decode"
    radix = not given.disable_radix_cache and not decode
    balance = "follow_bootstrap_room" if given.disaggregation_mode == "prefill" else "round_robin"
    resolved = {
        **values,
        "served_model_name": served,
        "tokenizer_path": given.tokenizer_path or given.model_path,
        "page_size": page_size,
        "chunked_prefill_size": chunk,
        "disable_radix_cache": not radix,
        "load_balance_method": balance if given.load_balance_method == "auto" else given.load_balance_method,
    }
    resolved.pop("config", None)
    # The real one hands its keys out here; an imitation of that leak would put secrets into logs and test output.
    resolved |= {name: "<redacted>" for name in SECRETS if resolved.get(name)}
    return Arguments(
        host=given.host,
        port=given.port,
        model_path=given.model_path,
        served_model_name=served,
        mode=given.disaggregation_mode,
        transfer_backend=given.disaggregation_transfer_backend,
        bootstrap_port=given.disaggregation_bootstrap_port,
        tp_size=given.tp_size,
        page_size=page_size,
        dtype=given.dtype,
        kv_cache_dtype=given.kv_cache_dtype,
        quantization=given.quantization,
        context_length=given.context_length,
        max_total_tokens=given.max_total_tokens,
        max_running_requests=given.max_running_requests,
        chunked_prefill_size=chunk,
        reserved_decode_tokens=given.num_reserved_decode_tokens,
        allocation_policy=given.disaggregation_decode_allocation_policy,
        radix_cache=radix,
        cache_report=given.enable_cache_report,
        metrics=given.enable_metrics,
        metric_labels=dict(given.extra_metric_labels or {}),
        api_key=given.api_key or None,
        admin_api_key=given.admin_api_key or None,
        skip_warmup=given.skip_server_warmup,
        everything=resolved,
        command=tuple(argv),
    )
