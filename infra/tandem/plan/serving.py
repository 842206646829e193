"""A serving stack, planned: every object of it as a value, or every reason why it cannot be built as written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tandem.config.base import Colour, Role
from tandem.config.pair import Checkpoint, SimulatedEngine
from tandem.config.serving import RoleCluster, ServingStack, TripleConfig
from tandem.errors import Fault, PlanError
from tandem.facts import engine_flags
from tandem.facts.schemes import Scheme, Support
from tandem.plan import manifests, network_policies, pairs
from tandem.plan.gateway import GatewayPlan, plan_gateway
from tandem.plan.manifests import Manifest
from tandem.plan.pods import ENGINE_ACCOUNT, GATEWAY, GATEWAY_ACCOUNT, Identity
from tandem.plan.roles import WorkerPlan, plan_role
from tandem.plan.site import ClassNodes, ServingSite
from tandem.plan.transfer import TransferPlan, efa_devices, plan_transfer, uses_efa
from tandem.units import BYTES_PER_GIB

SYSTEM_SHARE: Final = 0.92
"""Part of a node's memory that pods can have; the rest is the kubelet's, the system's and its daemons'."""
SYSTEM_CORES: Final = 2.0
"""Cores of a node that pods cannot have, for the same reason."""


@dataclass(frozen=True)
class TriplePlan:
    """One colour, planned."""

    colour: Colour
    revision: str
    schemes: Mapping[Role, Scheme]
    transfer: TransferPlan
    gateway: GatewayPlan
    workers: Mapping[Role, WorkerPlan]
    target_group_arn: str
    gateway_service: Manifest
    worker_services: Mapping[Role, Manifest]
    target_group_binding: Manifest
    gateway_deployment: Manifest
    worker_deployments: Mapping[Role, Manifest]
    disruption_budgets: tuple[Manifest, ...]
    network_policies: tuple[Manifest, ...]

    def all_manifests(self) -> Iterator[Manifest]:
        """Every object of the triple, in the order in which they may be made."""
        yield from self.network_policies
        yield self.gateway_service
        yield from self.worker_services.values()
        yield self.target_group_binding
        yield from self.disruption_budgets
        yield from self.worker_deployments.values()
        yield self.gateway_deployment


@dataclass(frozen=True)
class ServingPlan:
    """A whole serving stack, planned."""

    live: Colour
    namespace: Manifest
    service_accounts: tuple[Manifest, ...]
    pod_reader: tuple[Manifest, Manifest]
    network_policies: tuple[Manifest, ...]
    """Those of the namespace; each triple has its own beside them."""
    triples: Mapping[Colour, TriplePlan]
    warnings: tuple[str, ...]
    """What is allowed, but a person should have seen."""


def plan_serving(stack: ServingStack, site: ServingSite, at: str) -> ServingPlan:
    """The stack on its site; `at` names the stack file in messages. Raises `PlanError` with every fault."""
    faults = [*_site_faults(stack, site, at)]
    for role in Role:
        faults += _cluster_faults(stack, role, site, at)
    chosen: dict[Colour, dict[Role, Scheme]] = {}
    warnings: list[str] = []
    for colour, triple in stack.colours.present():
        where = f"{at}.colours.{colour}"
        faults += _image_faults(triple, site, where)
        chosen[colour] = {}
        for role in Role:
            nodes = site.nodes.get(stack.cluster(role).node_class)
            if nodes is None:
                continue
            faults += _fit_faults(triple, role, nodes, where)
            scheme = pairs.resolve_scheme(
                triple.checkpoint(role),
                stack.cluster(role).quantization,
                triple.pair.model,
                nodes.accelerator,
                nodes.capability,
            )
            if isinstance(scheme, pairs.Refused):
                faults.append(_refused(triple.checkpoint(role), stack.cluster(role), role, where, at, scheme))
                continue
            chosen[colour][role] = scheme
            faults += _memory_faults(triple, role, scheme, nodes, where)
            if scheme.on(nodes.capability) is not Support.YES:
                support = scheme.on(nodes.capability)
                warnings.append(f"{where}.{role}: {scheme.name} on {nodes.accelerator} is {support}: {scheme.note}")
        faults += _transfer_faults(stack, triple, site, where, at)
    if faults:
        raise PlanError(sorted(faults))
    triples = {
        colour: _triple(stack, colour, triple, chosen[colour], site) for colour, triple in stack.colours.present()
    }
    for colour, planned in triples.items():
        for role, worker in planned.workers.items():
            faults += engine_flags.check(worker.arguments, f"{at}.colours.{colour}.{role}")
    if faults:
        raise PlanError(sorted(faults))
    efa = any(uses_efa(triple.pair.transfer_backend) for _, triple in stack.colours.present())
    return ServingPlan(
        live=stack.live,
        namespace=manifests.namespace(privileged=efa),
        service_accounts=tuple(manifests.service_account(name) for name in (ENGINE_ACCOUNT, GATEWAY_ACCOUNT)),
        pod_reader=manifests.pod_reader(GATEWAY_ACCOUNT),
        network_policies=(network_policies.default_deny(), network_policies.name_lookup()),
        triples=triples,
        warnings=tuple(warnings),
    )


def _triple(
    stack: ServingStack, colour: Colour, triple: TripleConfig, chosen: Mapping[Role, Scheme], site: ServingSite
) -> TriplePlan:
    pair = triple.pair
    image = _engine_image(triple, site)
    parallel = {role: triple.role(role).tensor_parallel for role in Role}
    revision = pairs.revision(pair, image, chosen, parallel)
    identity = Identity(colour, revision, GATEWAY)
    nodes = {role: site.nodes[stack.cluster(role).node_class] for role in Role}
    paths = {role: _model_path(triple.checkpoint(role), site) for role in Role}
    workers = {
        role: plan_role(
            identity.of(role),
            role,
            pair=pair,
            scheme=chosen[role],
            settings=triple.role(role),
            workers=stack.workers,
            nodes=nodes[role],
            image=image,
            model_path=paths[role],
            zone_id=site.zone_id,
            service_account=ENGINE_ACCOUNT,
        )
        for role in Role
    }
    gateway = plan_gateway(
        identity,
        stack.gateway,
        replicas=triple.gateways,
        autoscaled=triple.gateways_owner == "autoscaler",
        image=f"{site.repositories['gateway']}:{stack.gateway.tag}",
        service_account=GATEWAY_ACCOUNT,
    )
    arn = site.target_groups[colour]
    return TriplePlan(
        colour=colour,
        revision=revision,
        schemes=chosen,
        transfer=_transfer(stack, triple, site),
        gateway=gateway,
        workers=workers,
        target_group_arn=arn,
        gateway_service=manifests.service(identity, [("http", gateway.port)], headless=False),
        worker_services={role: manifests.worker_service(worker) for role, worker in workers.items()},
        target_group_binding=manifests.target_group_binding(identity, arn, gateway.port),
        gateway_deployment=manifests.gateway(gateway),
        worker_deployments={role: manifests.worker(worker) for role, worker in workers.items()},
        disruption_budgets=tuple(
            manifests.disruption_budget(part) for part in (identity, *(identity.of(role) for role in Role))
        ),
        network_policies=network_policies.triple_policies(
            identity,
            gateway_port=gateway.port,
            edge_cidrs=site.edge_cidrs,
            vpc_cidr=site.vpc_cidr,
            weights_from_s3=any(path.startswith("s3://") for path in paths.values()),
        ),
    )


def _engine_image(triple: TripleConfig, site: ServingSite) -> str:
    engine = triple.pair.engine
    repository = site.repositories[engine.image]
    return f"{repository}:{engine.tag}" if isinstance(engine, SimulatedEngine) else f"{repository}@{engine.digest}"


def _model_path(checkpoint: Checkpoint, site: ServingSite) -> str:
    prefix, _, key = checkpoint.uri.partition("weights:")
    return prefix or f"s3://{site.weights_bucket}/{key.strip('/')}"


def _transfer(stack: ServingStack, triple: TripleConfig, site: ServingSite) -> TransferPlan:
    prefill, decode = ((site.nodes[stack.cluster(role).node_class], triple.role(role).tensor_parallel) for role in Role)
    return plan_transfer(triple.pair, (prefill, decode))


def _site_faults(stack: ServingStack, site: ServingSite, at: str) -> Iterator[Fault]:
    if stack.gateway.listen_port != site.gateway_port:
        yield Fault(
            f"{at}.gateway.listen_port",
            str(stack.gateway.listen_port),
            f"the network stack opens {site.gateway_port} between edge and gateway, and no other port",
            f"Write {site.gateway_port}, or change the network stack's gateway port",
        )
    if "gateway" not in site.repositories:
        rule = "the registry stack has no repository `gateway`"
        yield Fault(f"{at}.gateway", "(image)", rule, "Add it to the registry stack")
    for colour, _ in stack.colours.present():
        if colour not in site.target_groups:
            rule = f"the edge stack has no target group for {colour}"
            yield Fault(f"{at}.colours.{colour}", "{...}", rule, "Add it to the edge stack")


def _cluster_faults(stack: ServingStack, role: Role, site: ServingSite, at: str) -> Iterator[Fault]:
    cluster = stack.cluster(role)
    where = f"{at}.{role}_cluster"
    nodes = site.nodes.get(cluster.node_class)
    if nodes is None:
        known = ", ".join(node_class.value for node_class in site.nodes) or "none"
        rule = f"the cluster stack has no node group of class {cluster.node_class} (it has: {known})"
        yield Fault(
            f"{where}.instance_type", cluster.instance_type, rule, "Add the node group, or name the other class"
        )
        return
    for name, value in (("min_nodes", cluster.min_nodes), ("max_nodes", cluster.max_nodes)):
        if value > nodes.nodes_max:
            yield Fault(
                f"{where}.{name}",
                str(value),
                f"the cluster stack lets its {nodes.node_class} nodes grow to {nodes.nodes_max}",
                f"Write {nodes.nodes_max} or less, or raise it in the cluster stack",
            )
    engines = sum(triple.role(role).replicas for _, triple in stack.colours.present())
    needed = nodes_needed(stack, role, nodes)
    if needed > cluster.max_nodes:
        yield Fault(
            f"{where}.max_nodes",
            str(cluster.max_nodes),
            f"the {engines} {role} engines of all colours need {needed} {nodes.instance_type} nodes",
            f"Write {needed} or more, or fewer replicas",
        )
    if engines < cluster.min_nodes:
        yield Fault(
            f"{where}.min_nodes",
            str(cluster.min_nodes),
            f"{engines} {role} engines cannot fill more than {engines} nodes",
            f"Write {engines}, or ask for {cluster.min_nodes} replicas",
        )


def nodes_needed(stack: ServingStack, role: Role, nodes: ClassNodes) -> int:
    """Nodes that the engines of a role fill, all colours together; 0 for engines that fit none."""
    needed = 0
    for _, triple in stack.colours.present():
        each = _engines_per_node(triple, role, nodes)
        needed += math.ceil(triple.role(role).replicas / each) if each else 0
    return needed


def _engines_per_node(triple: TripleConfig, role: Role, nodes: ClassNodes) -> int:
    settings = triple.role(role)
    devices = efa_devices(triple.pair.transfer_backend, nodes, settings.tensor_parallel)
    return min(
        nodes.gpus // settings.tensor_parallel,
        nodes.efa_interfaces // devices if devices else nodes.gpus,
        int((nodes.vcpus - SYSTEM_CORES) / settings.cpu),
        int(nodes.memory_gib * SYSTEM_SHARE / settings.memory),
    )


def _fit_faults(triple: TripleConfig, role: Role, nodes: ClassNodes, where: str) -> Iterator[Fault]:
    settings = triple.role(role)
    if settings.tensor_parallel > nodes.gpus:
        rule = f"an engine stands in one node, and {nodes.instance_type} has {nodes.gpus} GPUs"
        yield Fault(
            f"{where}.{role}.tensor_parallel", str(settings.tensor_parallel), rule, f"Write {nodes.gpus} or less"
        )
    cores = nodes.vcpus - SYSTEM_CORES
    if settings.cpu > cores:
        rule = f"{nodes.instance_type} has {cores:g} cores for pods"
        yield Fault(f"{where}.{role}.cpu", f"{settings.cpu:g}", rule, f"Write {cores:g} or less")
    memory = math.floor(nodes.memory_gib * SYSTEM_SHARE)
    if settings.memory > memory:
        rule = f"{nodes.instance_type} has {memory} GiB for pods"
        yield Fault(f"{where}.{role}.memory", str(settings.memory), rule, f"Write {memory} or less")


def _memory_faults(triple: TripleConfig, role: Role, scheme: Scheme, nodes: ClassNodes, where: str) -> Iterator[Fault]:
    """Weights and the KV of one request of full context must fit the GPUs of an engine."""
    pair, settings = triple.pair, triple.role(role)
    weights = pair.model.parameters_billion * 1e9 * scheme.weight_bits / 8 / BYTES_PER_GIB
    kv = pairs.kv_bytes_per_token(pair.model, pair.kv_cache_dtype) * pair.context_length / BYTES_PER_GIB
    each = nodes.gpu_memory_gib * settings.memory_fraction
    if weights + kv <= each * settings.tensor_parallel:
        return
    fitting = next((n for n in (1, 2, 4, 8, 16) if n <= nodes.gpus and weights + kv <= each * n), None)
    yield Fault(
        f"{where}.{role}.tensor_parallel",
        str(settings.tensor_parallel),
        f"{weights:.0f} GiB of {scheme.name} weights and {kv:.1f} GiB of KV for one full context do not fit "
        f"{settings.tensor_parallel} x {each:.0f} GiB of {nodes.accelerator}",
        f"Write {fitting}" if fitting else "Choose larger nodes or a smaller scheme",
    )


def _transfer_faults(
    stack: ServingStack, triple: TripleConfig, site: ServingSite, where: str, at: str
) -> Iterator[Fault]:
    backend = triple.pair.transfer_backend
    ends = [site.nodes.get(stack.cluster(role).node_class) for role in Role]
    if any(nodes is None for nodes in ends):
        return
    without = [nodes.instance_type for nodes in ends if nodes is not None and nodes.efa_interfaces == 0]
    if uses_efa(backend) and without:
        rule = f"{backend} goes over EFA, and {without[0]} has none"
        yield Fault(f"{where}.pair.transfer_backend", backend, rule, "Write mooncake_tcp, or choose nodes with EFA")
        return
    transfer = _transfer(stack, triple, site)
    if transfer.milliseconds > stack.cache_transfer.timeout_ms:
        kv = transfer.kv_bytes / BYTES_PER_GIB
        yield Fault(
            f"{at}.cache_transfer.timeout_ms",
            str(stack.cache_transfer.timeout_ms),
            f"the KV of a full context of {where.rpartition('.')[2]} is {kv:.2f} GiB, and {backend} has "
            f"{transfer.rate_gbps:.0f} Gbit/s for it: {transfer.milliseconds} ms",
            f"Write {transfer.milliseconds} or more, or shorten context_length",
        )


def _image_faults(triple: TripleConfig, site: ServingSite, where: str) -> Iterator[Fault]:
    image = triple.pair.engine.image
    if image not in site.repositories:
        known = ", ".join(sorted(site.repositories)) or "none"
        rule = f"the registry stack has no such repository (it has: {known})"
        yield Fault(f"{where}.pair.engine.image", image, rule, "Add it to the registry stack, or name one of them")


def _refused(
    checkpoint: Checkpoint, cluster: RoleCluster, role: Role, where: str, at: str, refused: pairs.Refused
) -> Fault:
    if checkpoint.scheme is None:
        return Fault(f"{at}.{role}_cluster.quantization", cluster.quantization, refused.rule, refused.fix)
    return Fault(f"{where}.pair.{role}.scheme", checkpoint.scheme, refused.rule, refused.fix)
