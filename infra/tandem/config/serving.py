"""The `serving` stack as a person writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, NonNegativeInt, PositiveFloat, PositiveInt, ValidationInfo, field_validator

from tandem import limits
from tandem.config.base import Colour, NodeClass, Role, StackBase, Strict
from tandem.config.pair import Checkpoint, GroupedAttention, Pair, Tag
from tandem.errors import Fault
from tandem.facts.schemes import families, schemes
from tandem.units import GiB, Milliseconds, Port, Seconds

CLASS_NAMES = {"compute_optimized": NodeClass.COMPUTE, "memory_optimized": NodeClass.BANDWIDTH}
"""The deployment guide's class names. Which instance type a class is stands in the cluster stack only."""


def _class_name(value: str) -> str:
    if value in CLASS_NAMES:
        return value
    known = " or ".join(CLASS_NAMES)
    if "." in value:
        raise ValueError(f"an instance type is written in the cluster stack only; here stands a class | Write {known}")
    raise ValueError(f"not a class of nodes that serve models | Write {known}")


def _family(value: str) -> str:
    if value in families():
        return value
    if value in schemes():
        family = schemes()[value].family
        raise ValueError(f"a scheme belongs to a checkpoint; here stands its family | Write {family}")
    if value == "auto":
        raise ValueError("`auto` is resolved by each checkpoint on its own | Write the family out, for example w8a8")
    raise ValueError(f"not a family of quantization schemes | Write one of: {', '.join(families())}")


def _silent_about_keys(value: str) -> str:
    if value in ("warning", "error"):
        return value
    if value in ("info", "debug"):
        raise ValueError(
            "from `info` on, SGLang logs its arguments at start, with both API keys in clear | Write warning"
        )
    raise ValueError("not a level of the engine's log | Write warning or error")


class GatewayConfig(Strict):
    """The gateway of each colour."""

    listen_port: Port = 8080
    """Port that the gateway's pods listen on, behind the edge's 443."""
    max_concurrent_requests: PositiveInt = 1000
    """Requests in flight in one colour, over all its gateways; each gets an even part. Workers have no such limit."""
    queue_size: NonNegativeInt = 100
    """Requests that wait at one gateway when it is full; the next one gets 429."""
    queue_timeout: Seconds = 60
    """Longest wait in that queue, in seconds, before 503."""
    tag: Tag
    """Tag of the `gateway` image."""
    prefill_policy: Literal["cache_aware", "round_robin", "power_of_two", "random"] = "cache_aware"
    """Where a prompt goes: beside its own prefix, by default."""
    decode_policy: Literal["round_robin", "power_of_two", "random"] = "power_of_two"
    """Where an answer is written: on the less loaded of two, by default."""
    cpu: PositiveFloat = 2.0
    """Cores requested by one gateway."""
    memory: GiB = 2

    @field_validator("listen_port")
    @classmethod
    def _own_port(cls, value: int) -> int:
        if value < 1024:
            raise ValueError("the gateway runs without root and cannot bind a port below 1024 | Write 8080")
        if value == limits.GATEWAY_METRICS_PORT:
            raise ValueError("the gateway serves its metrics on this port | Write 8080")
        if value == limits.KUBELET_PORT:
            raise ValueError("the kubelet's port | Write 8080")
        return value


class RoleCluster(Strict):
    """The nodes that one role may fill, in the deployment guide's words."""

    min_nodes: PositiveInt
    """Nodes that the role's replicas fill at least, both colours together."""
    max_nodes: PositiveInt
    """Nodes that the role's replicas fill at most, both colours together. It is also the cost ceiling."""
    instance_type: Annotated[str, AfterValidator(_class_name)]
    """Class of node: `compute_optimized` or `memory_optimized`."""
    quantization: Annotated[str, AfterValidator(_family)]
    """Family of schemes that the role's checkpoint must be in, for example `w8a8`."""

    @field_validator("max_nodes")
    @classmethod
    def _above_min(cls, value: int, info: ValidationInfo) -> int:
        least = info.data.get("min_nodes")
        if least is not None and value < least:
            raise ValueError(f"below min_nodes = {least} | Write {least} or more, or lower min_nodes")
        return value

    @property
    def node_class(self) -> NodeClass:
        """The class of node group that the guide's name stands for."""
        return CLASS_NAMES[self.instance_type]


def _prefill_cluster() -> RoleCluster:
    return RoleCluster(min_nodes=2, max_nodes=10, instance_type="compute_optimized", quantization="w8a8")


def _decode_cluster() -> RoleCluster:
    return RoleCluster(min_nodes=4, max_nodes=20, instance_type="memory_optimized", quantization="w4a8")


class CacheTransfer(Strict):
    """How a prompt's KV gets from prefill to decode."""

    type: Literal["distributed_kv_store"] = "distributed_kv_store"
    """Prefill pushes into decode's memory by the pair's `transfer_backend`. The only kind that SGLang pairs speak."""
    timeout_ms: Milliseconds = 500
    """Longest that the KV of one prompt of full context may take on the wire. Checked against the nodes' network."""


class RoleReplicas(Strict):
    """One role of one colour: how many engines, how large."""

    replicas: PositiveInt
    """Engines of this role. Where an autoscaler owns the number, only the one it starts from."""
    replicas_owner: Literal["stack", "autoscaler"] = "stack"
    """Who sets the number after creation. `autoscaler`: this stack never sets it back."""
    tensor_parallel: PositiveInt = 1
    """GPUs of one engine, all in one node."""
    max_running_requests: PositiveInt = 256
    """Requests that one engine works on at once; the gateway admits by it."""
    memory_fraction: Annotated[float, Field(gt=0.3, lt=0.98)] = 0.88
    """Part of a GPU's memory for weights and KV."""
    cpu: PositiveFloat = 8.0
    """Cores requested by one engine."""
    memory: GiB = 64
    """Memory requested by one engine; its shared memory counts in it."""
    shared_memory: GiB = 16
    """Size of /dev/shm: NCCL and the engine's own processes meet there."""

    @field_validator("shared_memory")
    @classmethod
    def _inside_memory(cls, value: int, info: ValidationInfo) -> int:
        memory = info.data.get("memory")
        if memory is not None and value >= memory:
            raise ValueError(f"/dev/shm counts in memory = {memory} GiB | Write less than {memory}, or raise memory")
        return value


class TripleConfig(Strict):
    """What one colour runs: a pair, and how much of it."""

    pair: Pair
    gateways: Annotated[int, Field(ge=2)] = 2
    """Gateways of this colour. Two at least: one is always being replaced some day."""
    gateways_owner: Literal["stack", "autoscaler"] = "stack"
    """Who sets the number after creation."""
    prefill: RoleReplicas
    decode: RoleReplicas

    def role(self, role: Role) -> RoleReplicas:
        """The settings of `role`."""
        return self.prefill if role is Role.PREFILL else self.decode

    def checkpoint(self, role: Role) -> Checkpoint:
        """The checkpoint of `role`."""
        return self.pair.prefill if role is Role.PREFILL else self.pair.decode


class Colours(Strict):
    """The two slots for triples."""

    blue: TripleConfig | None = None
    green: TripleConfig | None = None

    def present(self) -> Iterator[tuple[Colour, TripleConfig]]:
        """The colours that run something, blue first."""
        for colour, triple in ((Colour.BLUE, self.blue), (Colour.GREEN, self.green)):
            if triple is not None:
                yield colour, triple


class Workers(Strict):
    """How the pods of engines are run: nothing here decides KV bytes or answers."""

    pin_side_channel_ports: bool = True
    """Sets net.ipv4.ip_local_port_range of engine pods, so that network policies can name the ZMQ side channels."""
    startup_probe_period: Seconds = 10
    """Seconds between looks at an engine that starts."""
    startup_budget: Seconds = 1800
    """Longest start, weights and compilation included; then the kubelet restarts the engine."""
    readiness_probe_period: Seconds = 5
    """Seconds between looks at a running engine's /ready."""
    run_as_user: PositiveInt | None = None
    """User id of the engine's process. None: the image's own user."""
    engine_log_level: Annotated[str, AfterValidator(_silent_about_keys)] = "warning"
    """What engines write to their logs, at least. At `info` SGLang logs all its arguments at start, keys included."""

    @field_validator("startup_budget")
    @classmethod
    def _whole_periods(cls, value: int, info: ValidationInfo) -> int:
        period = info.data.get("startup_probe_period")
        if period is not None and value < period:
            raise ValueError(f"below startup_probe_period = {period} s | Write {period} or more")
        return value


class ServingStack(StackBase):
    """Namespace, API keys, and the triples of the two colours with their network policies and target bindings."""

    kind: Literal["serving"]
    gateway: GatewayConfig
    prefill_cluster: RoleCluster = Field(default_factory=_prefill_cluster)
    decode_cluster: RoleCluster = Field(default_factory=_decode_cluster)
    cache_transfer: CacheTransfer = CacheTransfer()
    workers: Workers = Workers()
    live: Colour = Colour.BLUE
    """The colour that serves when the stack is first made. Afterwards the rollout owns the traffic."""
    colours: Colours

    def cluster(self, role: Role) -> RoleCluster:
        """The nodes of `role`."""
        return self.prefill_cluster if role is Role.PREFILL else self.decode_cluster

    def faults(self, at: str) -> Iterator[Fault]:
        """What the fields contradict between one another; `at` names the stack in messages."""
        colours = dict(self.colours.present())
        if self.live not in colours:
            fix = f"Describe the triple under colours.{self.live}"
            yield Fault(f"{at}.live", str(self.live), f"the colour {self.live} runs nothing", fix)
        for colour, triple in colours.items():
            where = f"{at}.colours.{colour}"
            yield from _gateway_faults(triple, self.gateway, where, at)
            yield from _pair_faults(triple.pair, where)
            for role in Role:
                yield from _role_faults(triple, role, self.cluster(role).quantization, where)
            yield from _parallel_faults(triple, where)


def _gateway_faults(triple: TripleConfig, gateway: GatewayConfig, where: str, at: str) -> Iterator[Fault]:
    if gateway.max_concurrent_requests < triple.gateways:
        yield Fault(
            f"{at}.gateway.max_concurrent_requests",
            str(gateway.max_concurrent_requests),
            f"is shared by the {triple.gateways} gateways of {where.rpartition('.')[2]}; each must admit one request",
            f"Write {triple.gateways} or more",
        )


def _pair_faults(pair: Pair, where: str) -> Iterator[Fault]:
    if pair.context_length > pair.model.context_limit:
        yield Fault(
            f"{where}.pair.context_length",
            str(pair.context_length),
            f"the base model's context ends at {pair.model.context_limit} tokens",
            f"Write {pair.model.context_limit} or less",
        )
    if pair.context_length % pair.page_size:
        fit = pair.context_length - pair.context_length % pair.page_size or pair.page_size
        yield Fault(
            f"{where}.pair.context_length",
            str(pair.context_length),
            f"must be whole KV pages of {pair.page_size} tokens",
            f"Write {fit}",
        )
    same_files = pair.decode.digest is not None and pair.decode.digest == pair.prefill.digest
    if same_files and pair.prefill.scheme != pair.decode.scheme:
        yield Fault(
            f"{where}.pair.decode.digest",
            f"{pair.decode.digest}"[:19] + "...",
            "is the prefill checkpoint's digest, but the schemes differ",
            "Correct one of them",
        )
    if pair.allocation_policy == "prefill_complete" and pair.transfer_backend == "nixl":
        yield Fault(
            f"{where}.pair.allocation_policy",
            "'prefill_complete'",
            "SGLang has it for Mooncake only",
            "Write early, or transfer_backend: mooncake",
        )
    if pair.engine.kind == "sglang":
        for role in Role:
            checkpoint = pair.prefill if role is Role.PREFILL else pair.decode
            if checkpoint.digest is None:
                rule = "the real engine loads these files, and only a digest tells that they are the ones meant"
                fix = "Write the sha256 of the checkpoint's file list"
                yield Fault(f"{where}.pair.{role}.digest", "(missing)", rule, fix)


def _role_faults(triple: TripleConfig, role: Role, family: str, where: str) -> Iterator[Fault]:
    model = triple.pair.model
    name = triple.checkpoint(role).scheme
    if name is None:
        return
    scheme = schemes()[name]
    at = f"{where}.pair.{role}.scheme"
    if scheme.family != family:
        nearest = next(
            (s.name for s in schemes().values() if s.family == family and model.architecture in s.architectures), None
        )
        either = f"Write {nearest}, or " if nearest else ""
        yield Fault(
            at,
            name,
            f"{role}_cluster.quantization is {family}, and this scheme is {scheme.family}",
            f"{either}set {role}_cluster.quantization to {scheme.family}",
        )
    if model.architecture not in scheme.architectures:
        nearest = next(
            s.name
            for wanted in (scheme.family, "w4a16", "w8a8")
            for s in schemes().values()
            if s.family == wanted and model.architecture in s.architectures
        )
        rule = f"SGLang has no kernels of it for a {model.architecture} model"
        yield Fault(at, name, rule, f"Nearest that has: {nearest}")
    tensor_parallel = triple.role(role).tensor_parallel
    group = scheme.group
    if group and model.intermediate_size % (tensor_parallel * group):
        fit = _largest_divisor(tensor_parallel, lambda n: model.intermediate_size % (n * group) == 0)
        yield Fault(
            f"{where}.{role}.tensor_parallel",
            str(tensor_parallel),
            f"{name} scales groups of {group} columns, and {model.intermediate_size} columns over "
            f"{tensor_parallel} GPUs are not whole groups",
            f"Write {fit}" if fit else f"Choose another scheme than {name}",
        )


def _parallel_faults(triple: TripleConfig, where: str) -> Iterator[Fault]:
    attention = triple.pair.model.attention
    for role in Role:
        tensor_parallel = triple.role(role).tensor_parallel
        at = f"{where}.{role}.tensor_parallel"
        if attention.heads % tensor_parallel:
            fit = _largest_divisor(tensor_parallel, _divides(attention.heads))
            rule = f"the {attention.heads} attention heads must divide evenly over the GPUs of an engine"
            yield Fault(at, str(tensor_parallel), rule, f"Write {fit}")
        elif isinstance(attention, GroupedAttention):
            kv_heads = attention.kv_heads
            if kv_heads % tensor_parallel and tensor_parallel % kv_heads:
                fit = _largest_divisor(tensor_parallel, _divides(kv_heads))
                rule = f"the {kv_heads} KV heads must divide over the GPUs of an engine, or the GPUs over them"
                yield Fault(at, str(tensor_parallel), rule, f"Write {fit}")
    prefill, decode = triple.prefill.tensor_parallel, triple.decode.tensor_parallel
    if max(prefill, decode) % min(prefill, decode):
        yield Fault(
            f"{where}.decode.tensor_parallel",
            str(decode),
            f"KV is handed over in slices of heads: it must be a multiple or a part of prefill's {prefill}",
            f"Write {prefill}",
        )
    elif prefill != decode and triple.pair.allocation_policy == "prefill_complete":
        yield Fault(
            f"{where}.pair.allocation_policy",
            "'prefill_complete'",
            "SGLang has it for one GPU an engine only",
            "Write early",
        )


def _divides(total: int) -> Callable[[int], bool]:
    return lambda number: total % number == 0


def _largest_divisor(start: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `start` that fits; 0 where none does."""
    return next((n for n in range(start, 0, -1) if fits(n)), 0)
