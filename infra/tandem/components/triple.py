"""One colour: a pair's gateways, its prefill engines, its decode engines, and the rules between them."""

from __future__ import annotations

import pulumi

from tandem.components.objects import declare
from tandem.plan.serving import TriplePlan

START_TIMEOUT = "40m"
"""Longest that an `up` waits for a Deployment: an engine's start-up budget, and room for a node that has to come first."""


class Triple(pulumi.ComponentResource):
    """A pair of checkpoints, running.

    Creates: NetworkPolicies, Services, TargetGroupBinding, PodDisruptionBudgets, three Deployments.
    Cost: none of its own; the engines fill GPU nodes of the cluster stack.
    Replaced by: another pair revision; in the colour that serves, that interrupts it, because the Service moves at once
    to gateways that are not ready yet. A rollout brings the other colour up instead.
    Updated in place: replicas, resources, probes, the gateway's limits.
    """

    pair_revision: pulumi.Output[str]

    def __init__(self, name: str, plan: TriplePlan, *, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tandem:kubernetes:Triple", name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        policies = [
            declare(f"{name}-policy-{part}", policy, own)
            for part, policy in zip(("gateway", "prefill", "decode"), plan.network_policies, strict=True)
        ]
        service = declare(f"{name}-gateway", plan.gateway_service, own)
        for role, manifest in plan.worker_services.items():
            declare(f"{name}-{role}", manifest, own)
        for part, budget in zip(("gateway", "prefill", "decode"), plan.disruption_budgets, strict=True):
            declare(f"{name}-budget-{part}", budget, own)
        # Before the gateways: their pods get the load balancer's readiness gate only where a binding exists already.
        binding = declare(f"{name}-targets", plan.target_group_binding, _after(self, [service]))
        for role, manifest in plan.worker_deployments.items():
            opts_role = _after(self, policies, autoscaled=plan.workers[role].autoscaled)
            declare(f"{name}-{role}-engines", manifest, opts_role)
        opts_gateway = _after(self, [*policies, binding], autoscaled=plan.gateway.autoscaled)
        declare(f"{name}-gateways", plan.gateway_deployment, opts_gateway)
        self.pair_revision = pulumi.Output.from_input(plan.revision)
        self.register_outputs({"pair_revision": self.pair_revision})


def _after(
    parent: pulumi.Resource, others: list[pulumi.Resource], *, autoscaled: bool = False
) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(
        parent=parent,
        depends_on=others,
        # Exactly the field that an autoscaler owns, and only where one does.
        ignore_changes=["spec.replicas"] if autoscaled else [],
        custom_timeouts=pulumi.CustomTimeouts(create=START_TIMEOUT, update=START_TIMEOUT),
    )
