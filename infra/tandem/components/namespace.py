"""The namespace of all triples, with what every pod in it relies on."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes

from tandem.components.objects import declare
from tandem.plan.pods import API_KEYS_SECRET, NAMESPACE
from tandem.plan.serving import ServingPlan


class Namespace(pulumi.ComponentResource):
    """The namespace, its default-deny policies, the pods' identities and the API keys.

    Creates: Namespace, NetworkPolicies, ServiceAccounts, Role and RoleBinding of the gateways, Secret.
    Cost: nothing.
    Replaced by: nothing; a new pod security level or new keys are updates in place.
    """

    name: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        plan: ServingPlan,
        *,
        api_keys: pulumi.Input[dict[str, str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("tandem:kubernetes:Namespace", name, {}, opts)
        namespace = declare(name, plan.namespace, pulumi.ResourceOptions(parent=self))
        inside = pulumi.ResourceOptions(parent=self, depends_on=[namespace])
        for policy in plan.network_policies:
            declare(f"{name}-{policy['metadata']['name']}", policy, inside)
        for account in plan.service_accounts:
            declare(f"{name}-{account['metadata']['name']}", account, inside)
        for manifest in plan.pod_reader:
            declare(f"{name}-{manifest['metadata']['name']}-{manifest['kind'].lower()}", manifest, inside)
        self._create_api_keys(f"{name}-api-keys", api_keys, inside)
        self.name = pulumi.Output.from_input(NAMESPACE)
        self.register_outputs({"name": self.name})

    @staticmethod
    def _create_api_keys(name: str, api_keys: pulumi.Input[dict[str, str]], opts: pulumi.ResourceOptions) -> None:
        kubernetes.core.v1.Secret(
            name,
            metadata={
                "name": API_KEYS_SECRET,
                "namespace": NAMESPACE,
                "labels": {"app.kubernetes.io/part-of": "tandem"},
            },
            type="Opaque",
            string_data=pulumi.Output.secret(api_keys),
            opts=opts,
        )
