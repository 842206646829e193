"""Composes a serving stack."""

from __future__ import annotations

from typing import Any

import pulumi

from tandem.components.api_keys import API_KEY_NAMES, read_api_keys
from tandem.components.kubernetes_provider import kubernetes_provider
from tandem.components.namespace import Namespace
from tandem.components.provider import aws_provider
from tandem.components.triple import Triple
from tandem.config.base import Colour, NodeClass
from tandem.config.serving import ServingStack, TripleConfig
from tandem.facts.instances import instances
from tandem.outputs import contract
from tandem.outputs.cluster import ClusterOutputs
from tandem.outputs.edge import EdgeOutputs
from tandem.outputs.network import NetworkOutputs
from tandem.outputs.registry import RegistryOutputs
from tandem.outputs.serving import ServingOutputs
from tandem.plan.kubeconfig import kubeconfig
from tandem.plan.pairs import kv_bytes_per_token
from tandem.plan.pods import NAMESPACE
from tandem.plan.serving import TriplePlan, plan_serving
from tandem.plan.site import ClassNodes, ServingSite
from tandem.programs import upstream


def build(stack: ServingStack) -> None:
    """Declares everything of the stack."""
    cluster = upstream.cluster(stack.uses["cluster"])
    registry = upstream.registry(stack.uses["registry"])
    edge = upstream.edge(stack.uses["edge"])
    site = serving_site(upstream.network(stack.uses["network"]), registry, cluster, edge)
    plan = plan_serving(stack, site, at=f"stacks/Pulumi.{pulumi.get_stack()}.yaml: tandem:stack")
    for warning in plan.warnings:
        pulumi.log.warn(warning)
    config = kubeconfig(
        cluster=cluster.name, region=stack.site.region, endpoint=cluster.endpoint, ca_data=cluster.ca_data
    )
    opts = pulumi.ResourceOptions(providers={"kubernetes": kubernetes_provider(cluster.name, config)})
    namespace = Namespace(
        "tandem",
        plan,
        api_keys=_api_keys(registry, pulumi.InvokeOptions(provider=aws_provider(stack))),
        opts=opts,
    )
    inside = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[namespace]))
    for colour, triple in plan.triples.items():
        Triple(colour.value, triple, opts=inside)
    contract.export(
        ServingOutputs,
        namespace=NAMESPACE,
        live=plan.live,
        triples={colour.value: _described(plan.triples[colour], config) for colour, config in stack.colours.present()},
    )


def _api_keys(registry: RegistryOutputs, opts: pulumi.InvokeOptions) -> pulumi.Output[dict[str, str]]:
    if upstream.UNKNOWN in registry.api_keys_secret_arn:
        # A preview before the registry stack exists: there is no secret yet that could be read.
        return pulumi.Output.secret(dict.fromkeys(API_KEY_NAMES, upstream.UNKNOWN))
    return read_api_keys(registry.api_keys_secret_arn, opts)


def serving_site(
    network: NetworkOutputs, registry: RegistryOutputs, cluster: ClusterOutputs, edge: EdgeOutputs
) -> ServingSite:
    """What the other stacks of the site give to the serving plan."""
    nodes = {
        node_class: found
        for node_class in (NodeClass.COMPUTE, NodeClass.BANDWIDTH)
        if (found := _class_nodes(cluster, node_class)) is not None
    }
    return ServingSite(
        nodes=nodes,
        repositories=registry.repositories,
        weights_bucket=registry.weights_bucket,
        zone_id=cluster.kv_zone_id,
        vpc_cidr=network.vpc_cidr,
        edge_cidrs=tuple(subnet.cidr for subnet in network.subnets_for("public")),
        gateway_port=network.gateway_port,
        target_groups={Colour(colour): arn for colour, arn in edge.target_groups.items()},
    )


def _class_nodes(cluster: ClusterOutputs, node_class: NodeClass) -> ClassNodes | None:
    groups = cluster.groups_of(node_class)
    if not groups:
        return None
    first = groups[0]
    instance = instances()[first.instance_type]
    if instance.accelerator is None:
        return None
    return ClassNodes(
        node_class=node_class,
        instance_type=first.instance_type,
        accelerator=instance.accelerator.name,
        capability=instance.accelerator.capability,
        gpus=first.gpus,
        gpu_memory_gib=instance.accelerator.memory_gib,
        vcpus=first.vcpus,
        memory_gib=first.memory_gib,
        network_gbps=instance.network_gbps,
        efa_interfaces=first.efa_interfaces,
        nodes_max=sum(group.nodes_max for group in groups),
    )


def _described(plan: TriplePlan, config: TripleConfig) -> dict[str, Any]:
    workers = {role.value: worker.identity.name for role, worker in plan.workers.items()}
    return {
        "pair_revision": plan.revision,
        "served_name": config.pair.served_name,
        "simulated": config.pair.engine.kind == "simulated",
        "schemes": {role.value: scheme.name for role, scheme in plan.schemes.items()},
        "deployments": {"gateway": plan.gateway.identity.name, **workers},
        "gateway_service": plan.gateway.identity.service,
        "gateway_port": plan.gateway.port,
        "target_group_arn": plan.target_group_arn,
        "kv_bytes_per_token": kv_bytes_per_token(config.pair.model, config.pair.kv_cache_dtype),
        "transfer_milliseconds": plan.transfer.milliseconds,
    }
