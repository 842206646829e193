"""The engines of one role of a triple: arguments, environment, resources, times.

Both roles render the same literals for everything that a pair shares: they come from one function, `_shared`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tandem import limits
from tandem.config.base import NodeClass, Role
from tandem.config.pair import GroupedAttention, Pair, SimulatedEngine
from tandem.config.serving import RoleReplicas, Workers
from tandem.facts.schemes import Scheme
from tandem.plan import grace
from tandem.plan.pods import API_KEY_VARIABLES, EnvironmentVariable, Identity
from tandem.plan.site import ClassNodes
from tandem.plan.transfer import efa_devices, uses_efa

HUMMING_ACTIVATIONS: Final = '{"dtype":"float8e4m3"}'
"""Without it humming computes W4A16 unless the checkpoint itself declares 8-bit activations."""
EFA_SLICE_BYTES: Final = 262144
"""Mooncake over EFA was about twice as fast with this slice as with its default (sglang.md 6)."""


@dataclass(frozen=True)
class WorkerPlan:
    """The engines of one role of one colour."""

    identity: Identity
    role: Role
    image: str
    arguments: tuple[str, ...]
    environment: tuple[EnvironmentVariable, ...]
    replicas: int
    autoscaled: bool
    """True: the number of replicas is not this stack's after creation."""
    node_class: NodeClass
    zone_id: str | None
    gpus: int
    efa_interfaces: int
    cpu: float
    memory_gib: int
    shared_memory_gib: int
    pinned_ports: bool
    run_as_user: int | None
    service_account: str
    startup_period_seconds: int
    startup_failures: int
    readiness_period_seconds: int
    grace_seconds: int


def plan_role(
    identity: Identity,
    role: Role,
    *,
    pair: Pair,
    scheme: Scheme,
    settings: RoleReplicas,
    workers: Workers,
    nodes: ClassNodes,
    image: str,
    model_path: str,
    zone_id: str | None,
    service_account: str,
) -> WorkerPlan:
    """The engines of `role`. Everything given must have been judged by `plan.serving` before."""
    return WorkerPlan(
        identity=identity,
        role=role,
        image=image,
        arguments=tuple(_arguments(identity, role, pair, scheme, settings, workers, model_path)),
        environment=tuple(_environment(identity, pair, scheme, nodes)),
        replicas=settings.replicas,
        autoscaled=settings.replicas_owner == "autoscaler",
        node_class=nodes.node_class,
        zone_id=zone_id,
        gpus=settings.tensor_parallel,
        efa_interfaces=efa_devices(pair.transfer_backend, nodes, settings.tensor_parallel),
        cpu=settings.cpu,
        memory_gib=settings.memory,
        shared_memory_gib=settings.shared_memory,
        pinned_ports=workers.pin_side_channel_ports,
        run_as_user=workers.run_as_user,
        service_account=service_account,
        startup_period_seconds=workers.startup_probe_period,
        startup_failures=-(-workers.startup_budget // workers.startup_probe_period),
        readiness_period_seconds=workers.readiness_probe_period,
        grace_seconds=grace.worker_seconds(role),
    )


def _arguments(
    identity: Identity,
    role: Role,
    pair: Pair,
    scheme: Scheme,
    settings: RoleReplicas,
    workers: Workers,
    model_path: str,
) -> Iterator[str]:
    yield from ("--model-path", model_path)
    if model_path.startswith("s3://"):
        yield from ("--load-format", "runai_streamer")
    if scheme.flag is not None:
        # Not needed for a checkpoint that says so itself; written so that a wrong checkpoint fails at start.
        yield from ("--quantization", scheme.flag)
    # The default, 127.0.0.1, would also hide the bootstrap server from decode.
    yield from ("--host", "0.0.0.0", "--port", str(limits.ENGINE_PORT))
    yield from ("--disaggregation-mode", role.value)
    if role is Role.PREFILL:
        yield from ("--disaggregation-bootstrap-port", str(limits.BOOTSTRAP_PORT))
    yield from _shared(pair)
    yield from ("--tp-size", str(settings.tensor_parallel))
    yield from ("--max-running-requests", str(settings.max_running_requests))
    yield from ("--mem-fraction-static", str(settings.memory_fraction))
    yield "--enable-metrics"
    labels = {"colour": identity.colour.value, "pair_revision": identity.revision}
    yield from ("--extra-metric-labels", json.dumps(labels, sort_keys=True, separators=(",", ":")))
    yield from ("--log-level", workers.engine_log_level)
    # One word each: a key may begin with a dash.
    yield from ("--api-key=$(TANDEM_API_KEY)", "--admin-api-key=$(TANDEM_ADMIN_API_KEY)")


def _shared(pair: Pair) -> Iterator[str]:
    """The literals that both roles must render alike."""
    yield from ("--served-model-name", pair.served_name)
    yield from ("--dtype", pair.dtype)
    yield from ("--kv-cache-dtype", pair.kv_cache_dtype)
    yield from ("--page-size", str(pair.page_size))
    yield from ("--context-length", str(pair.context_length))
    yield from ("--attention-backend", pair.attention_backend)
    yield from ("--disaggregation-transfer-backend", pair.transfer_backend)
    yield from ("--disaggregation-decode-allocation-policy", pair.allocation_policy)
    if pair.chat_template is not None:
        yield from ("--chat-template", pair.chat_template)
    if pair.tool_call_parser is not None:
        yield from ("--tool-call-parser", pair.tool_call_parser)
    if pair.reasoning_parser is not None:
        yield from ("--reasoning-parser", pair.reasoning_parser)


def _environment(identity: Identity, pair: Pair, scheme: Scheme, nodes: ClassNodes) -> Iterator[EnvironmentVariable]:
    yield from API_KEY_VARIABLES
    # Decode dials this address for the bootstrap, prefill for the KV: it must be the pod's own, never a Service's.
    yield EnvironmentVariable("SGLANG_HOST_IP", field_path="status.podIP")
    yield EnvironmentVariable("TANDEM_PAIR_REVISION", identity.revision)
    transfer = str(limits.ENGINE_TRANSFER_TIMEOUT)
    yield EnvironmentVariable("SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT", transfer)
    yield EnvironmentVariable("SGLANG_DISAGGREGATION_WAITING_TIMEOUT", transfer)
    low, high = limits.MOONCAKE_PORTS
    for spelling in ("RPC", "PRC"):
        # Mooncake releases before the spelling was mended read the second one.
        yield EnvironmentVariable(f"MC_MIN_{spelling}_PORT", str(low))
        yield EnvironmentVariable(f"MC_MAX_{spelling}_PORT", str(high))
    if uses_efa(pair.transfer_backend):
        yield EnvironmentVariable("FI_PROVIDER", "efa")
        yield EnvironmentVariable("FI_EFA_USE_DEVICE_RDMA", "1")
        # Reported to corrupt buffers between pods of one node.
        yield EnvironmentVariable("FI_EFA_ENABLE_SHM_TRANSFER", "0")
    if pair.transfer_backend == "mooncake":
        yield EnvironmentVariable("MOONCAKE_PROTOCOL", "efa")
        yield EnvironmentVariable("MC_SLICE_SIZE", str(EFA_SLICE_BYTES))
    if pair.transfer_backend == "nixl":
        # The default, UCX, cannot drive EFA and falls back to TCP without a word.
        yield EnvironmentVariable("SGLANG_DISAGGREGATION_NIXL_BACKEND", "LIBFABRIC")
    if scheme.flag == "humming":
        yield EnvironmentVariable("SGLANG_HUMMING_INPUT_QUANT_CONFIG", HUMMING_ACTIVATIONS)
    if isinstance(pair.engine, SimulatedEngine):
        yield from _simulation(pair, pair.engine, scheme, nodes)
    else:
        yield EnvironmentVariable("SGLANG_CACHE_DIR", "/var/cache/sglang")


def _simulation(
    pair: Pair, engine: SimulatedEngine, scheme: Scheme, nodes: ClassNodes
) -> Iterator[EnvironmentVariable]:
    yield EnvironmentVariable("TANDEM_SIM_PROFILE", engine.profile)
    yield EnvironmentVariable("TANDEM_SIM_SPEED", str(engine.speed))
    yield EnvironmentVariable("TANDEM_SIM_KV_SCALE", str(engine.kv_scale))
    yield EnvironmentVariable("TANDEM_SIM_GPU", nodes.accelerator)
    yield EnvironmentVariable("TANDEM_SIM_SCHEME", scheme.name)
    attention = pair.model.attention
    if isinstance(attention, GroupedAttention):
        shape = f"{pair.model.layers},{attention.kv_heads},{attention.head_dim}"
        yield EnvironmentVariable("TANDEM_SIM_SHAPE", shape)
