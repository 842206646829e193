"""What is set by environment variables: the simulation's own (`TANDEM_SIM_*`) and those of SGLang that it obeys."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class BadSetting(Exception):
    """An environment variable holds something that cannot be used. The message is for a person."""


def _number(env: Mapping[str, str], name: str, default: float, least: float = 0.0) -> float:
    text = env.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        raise BadSetting(f"{name}: {text} - must be a number. Give one, or unset it for {default}.") from None
    if value <= least:
        raise BadSetting(f"{name}: {text} - must be above {least}. Unset it for {default}.")
    return value


def own_address(env: Mapping[str, str]) -> str:
    """The address that peers are told to dial: SGLANG_HOST_IP, else the one this host would send from, else loopback."""
    given = env.get("SGLANG_HOST_IP") or env.get("HOST_IP")
    if given:
        return given
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: a UDP connect only asks the routing table
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


@dataclass(frozen=True)
class Settings:
    """The environment of one engine."""

    speed: float
    """How many simulated seconds pass in a real one; 1.0 is real time, `inf` takes no time at all."""
    kv_scale: float
    """Share of the model's KV bytes that is really moved; below 1 for big models on small machines."""
    kv_salt: str
    """Mixed into the KV that this engine computes. Two engines with different salts behave like different models."""
    profile: str
    """Name of a file in `profiles/`, or a path."""
    gpu: str
    """Which of the profile's entries counts, for example `H200`."""
    scheme: str
    """Quantization scheme for the profile where no flag names it (a compressed-tensors checkpoint). Empty: the flag's."""
    shape: str
    """`layers,kv_heads,head_dim`: overrides what the model's path says. Empty: not set."""
    dies_on_mismatch: bool
    """As the real decode does when a prefill's page size or KV dtype differs; else the request alone fails."""
    faults: tuple[dict[str, Any], ...]
    """Faults that are on from the start."""
    pair_revision: str
    """The revision of the pair this engine was deployed for. Empty: not checked."""
    host_ip: str
    bootstrap_timeout: float
    """Real seconds that prefill waits for decode's memory (SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT)."""
    waiting_timeout: float
    """Real seconds that decode waits for the KV (SGLANG_DISAGGREGATION_WAITING_TIMEOUT)."""
    heartbeat_interval: float
    heartbeat_failures: int
    health_timeout: float
    """Real seconds after which /health gives the scheduler up (SGLANG_HEALTH_CHECK_TIMEOUT)."""


def read(env: Mapping[str, str] | None = None) -> Settings:
    """Reads the environment. Raises `BadSetting` on the first value that cannot be used."""
    env = os.environ if env is None else env
    on_mismatch = env.get("TANDEM_SIM_ON_MISMATCH", "exit")
    if on_mismatch not in ("exit", "refuse"):
        raise BadSetting(f"TANDEM_SIM_ON_MISMATCH: {on_mismatch} - must be exit (as the real engine) or refuse.")
    try:
        faults = json.loads(env.get("TANDEM_SIM_FAULTS") or "[]")
    except ValueError:
        raise BadSetting(
            "TANDEM_SIM_FAULTS - must be a JSON list of faults, as POST /tandem_sim/fault takes."
        ) from None
    scale = _number(env, "TANDEM_SIM_KV_SCALE", 1.0)
    if scale > 1:
        raise BadSetting(f"TANDEM_SIM_KV_SCALE: {scale} - must be at most 1: the model's KV is no larger than it is.")
    return Settings(
        speed=_number(env, "TANDEM_SIM_SPEED", 1.0),
        kv_scale=scale,
        kv_salt=env.get("TANDEM_SIM_KV_SALT", ""),
        profile=env.get("TANDEM_SIM_PROFILE", "default"),
        gpu=env.get("TANDEM_SIM_GPU", "*"),
        scheme=env.get("TANDEM_SIM_SCHEME", ""),
        shape=env.get("TANDEM_SIM_SHAPE", ""),
        dies_on_mismatch=on_mismatch == "exit",
        faults=tuple(faults if isinstance(faults, list) else [faults]),
        pair_revision=env.get("TANDEM_PAIR_REVISION", ""),
        host_ip=own_address(env),
        bootstrap_timeout=_number(env, "SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT", 300),
        waiting_timeout=_number(env, "SGLANG_DISAGGREGATION_WAITING_TIMEOUT", 300),
        heartbeat_interval=max(2.0, _number(env, "SGLANG_DISAGGREGATION_HEARTBEAT_INTERVAL", 5.0)),
        heartbeat_failures=int(_number(env, "SGLANG_DISAGGREGATION_HEARTBEAT_MAX_FAILURE", 2)),
        health_timeout=_number(env, "SGLANG_HEALTH_CHECK_TIMEOUT", 20),
    )
