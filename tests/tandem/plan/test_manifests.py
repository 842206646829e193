"""The Kubernetes objects of the local triple: exactly these, and what must hold of any.

Regenerate the golden file after a change that is meant: `TANDEM_GOLDEN=write pytest tests/tandem/plan/test_manifests.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tandem import limits
from tandem.config.base import Colour, Role
from tandem.plan.pods import REVISION_LABEL
from tandem.plan.ports import Party, flows_between
from tandem.plan.serving import ServingPlan

from tests.tandem import stacks
from tests.tandem.plan.serving_sites import plan, site

GOLDEN = Path(__file__).parent / "golden" / "local-serving.json"
KUBERNETES = "1.36"


def namespace_objects(planned: ServingPlan) -> Iterator[dict[str, Any]]:
    yield planned.namespace
    yield from planned.network_policies
    yield from planned.service_accounts
    yield from planned.pod_reader


def both_colours() -> ServingPlan:
    """Two colours of different revisions, with EFA: every branch of the manifests."""
    description = stacks.data("local-serving")
    green = stacks.data("local-serving")["colours"]["blue"]
    green["pair"] |= {"page_size": 32, "transfer_backend": "mooncake"}
    green["prefill"] |= {"tensor_parallel": 2}
    green["decode"] |= {"tensor_parallel": 2}
    green["pair"]["prefill"]["uri"] = "weights:green"
    description["colours"]["green"] = green
    description["workers"]["run_as_user"] = 1000
    description["cache_transfer"]["timeout_ms"] = 5000
    return plan(description, site(efa=True))


def triple_objects(planned: ServingPlan) -> list[dict[str, Any]]:
    return [manifest for triple in planned.triples.values() for manifest in triple.all_manifests()]


def of_kind(kind: str, planned: ServingPlan) -> list[dict[str, Any]]:
    return [manifest for manifest in triple_objects(planned) if manifest["kind"] == kind]


def containers(planned: ServingPlan) -> list[dict[str, Any]]:
    return [c for d in of_kind("Deployment", planned) for c in d["spec"]["template"]["spec"]["containers"]]


def selectors(value: Any) -> Iterator[dict[str, str]]:
    """Every label selector anywhere in an object."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "matchLabels" or (key == "selector" and "matchLabels" not in inner):
                yield inner
            else:
                yield from selectors(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from selectors(inner)


def test_the_local_triple_is_exactly_the_golden_one() -> None:
    planned = plan()
    objects = [*namespace_objects(planned), *triple_objects(planned)]
    text = json.dumps(objects, indent=1, sort_keys=True) + "\n"
    if os.environ.get("TANDEM_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8"), (
        "the local triple changed; if that is meant: TANDEM_GOLDEN=write pytest tests/tandem/plan/test_manifests.py"
    )


def test_every_selector_of_a_triple_holds_its_pair_revision() -> None:
    planned = both_colours()
    revisions = {colour: triple.revision for colour, triple in planned.triples.items()}
    assert len(set(revisions.values())) == 2
    for colour, triple in planned.triples.items():
        for manifest in triple.all_manifests():
            for selector in selectors(manifest["spec"]):
                assert selector[REVISION_LABEL] == revisions[colour], f"{manifest['kind']}: {selector}"


def test_pods_carry_all_that_their_selectors_ask_for() -> None:
    for deployment in of_kind("Deployment", both_colours()):
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()


def test_no_gateway_matches_its_own_selectors_for_engines() -> None:
    roles = [
        s["tandem.dev/role"] for d in of_kind("Deployment", plan()) for s in [d["spec"]["selector"]["matchLabels"]]
    ]
    assert sorted(roles) == ["decode", "gateway", "prefill"]


def test_no_service_offers_the_bootstrap_port_or_leaves_the_cluster() -> None:
    services = of_kind("Service", both_colours())
    assert len(services) == 6
    for service in services:
        assert service["spec"]["type"] == "ClusterIP"
        for port in service["spec"]["ports"]:
            assert port["port"] != limits.BOOTSTRAP_PORT and "nodePort" not in port


def test_no_pod_publishes_a_port_on_its_node() -> None:
    for deployment in of_kind("Deployment", both_colours()):
        pod = deployment["spec"]["template"]["spec"]
        assert not pod.get("hostNetwork")
        assert all("hostPort" not in port for c in pod["containers"] for port in c["ports"])


def test_probes_of_health_wait_as_long_as_it_takes() -> None:
    for container in containers(both_colours()):
        for name in ("startupProbe", "livenessProbe"):
            probe = container[name]
            if probe["httpGet"]["path"] == "/health":
                assert probe["timeoutSeconds"] >= 25, "SGLang's /health takes up to 20 s"
        if container["name"] == "engine":
            assert container["readinessProbe"]["httpGet"]["path"] == "/ready"


def test_the_startup_probe_lasts_the_whole_budget() -> None:
    description = stacks.data("local-serving")
    description["workers"] = {"startup_probe_period": 7, "startup_budget": 100}
    probe = next(c for c in containers(plan(description)) if c["name"] == "engine")["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 100


def test_only_prefill_pods_say_where_their_bootstrap_server_is() -> None:
    for deployment in of_kind("Deployment", plan()):
        template = deployment["spec"]["template"]["metadata"]
        prefill = template["labels"]["tandem.dev/role"] == "prefill"
        assert template.get("annotations") == ({"sglang.ai/bootstrap-port": "8998"} if prefill else None)


def test_containers_run_the_images_program_without_a_shell() -> None:
    for container in containers(both_colours()):
        assert "command" not in container and container["args"], "SIGTERM must reach the program"


def test_engines_ask_for_gpus_and_stand_on_nodes_of_their_class() -> None:
    triple = both_colours().triples[Colour.GREEN]
    for role, node_class in ((Role.PREFILL, "compute"), (Role.DECODE, "bandwidth")):
        pod = triple.worker_deployments[role]["spec"]["template"]["spec"]
        resources = pod["containers"][0]["resources"]
        assert resources["limits"]["nvidia.com/gpu"] == resources["requests"]["nvidia.com/gpu"] == "2"
        assert int(resources["limits"]["vpc.amazonaws.com/efa"]) >= 1
        assert pod["nodeSelector"]["tandem.dev/node-class"] == pod["tolerations"][0]["value"] == node_class
        assert pod["nodeSelector"]["topology.k8s.aws/zone-id"] == "use1-az4", "EFA does not cross zones"
        assert pod["containers"][0]["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]


def test_a_site_without_efa_needs_no_privileges() -> None:
    level = "pod-security.kubernetes.io/enforce"
    assert plan().namespace["metadata"]["labels"][level] == "baseline"
    assert both_colours().namespace["metadata"]["labels"][level] == "privileged"
    assert all(c["securityContext"]["capabilities"] == {"drop": ["ALL"]} for c in containers(plan()))


def test_side_channel_ports_are_pinned_unless_the_stack_says_otherwise() -> None:
    def sysctls(description: dict[str, Any]) -> list[Any]:
        engines = plan(description).triples[Colour.BLUE].worker_deployments.values()
        return [d["spec"]["template"]["spec"]["securityContext"].get("sysctls") for d in engines]

    description = stacks.data("local-serving")
    assert sysctls(description) == [[{"name": "net.ipv4.ip_local_port_range", "value": "40000 49999"}]] * 2
    description["workers"]["pin_side_channel_ports"] = False
    assert sysctls(description) == [None, None]


def test_the_namespace_denies_what_no_policy_allows() -> None:
    deny, names = plan().network_policies
    assert deny["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    assert {port["port"] for port in names["spec"]["egress"][0]["ports"]} == {53}


def test_each_row_of_the_port_table_is_allowed_on_both_sides_and_nothing_more_between_the_parts() -> None:
    triple = plan().triples[Colour.BLUE]
    policies = {p["metadata"]["labels"]["tandem.dev/role"]: p["spec"] for p in triple.network_policies}
    parts = (Party.GATEWAY, Party.PREFILL, Party.DECODE)

    def allowed(direction: str, peers: str) -> set[tuple[str, str, int]]:
        return {
            (own, peer["podSelector"]["matchLabels"]["tandem.dev/role"], port["port"])
            for own, spec in policies.items()
            for rule in spec[direction]
            for peer in rule[peers]
            if "podSelector" in peer
            for port in rule["ports"]
        }

    rows = {(f.caller.value, f.callee.value, f.ports[0]) for f in flows_between(8080, parts) if f.ports}
    assert allowed("egress", "to") == rows
    assert {(caller, callee, port) for callee, caller, port in allowed("ingress", "from")} == rows


def test_the_gateways_are_called_from_the_edges_subnets_only() -> None:
    policy = plan().triples[Colour.BLUE].network_policies[0]["spec"]
    blocks = [peer["ipBlock"]["cidr"] for rule in policy["ingress"] for peer in rule["from"] if "ipBlock" in peer]
    assert blocks == ["10.200.16.0/24", "10.200.17.0/24"]


def test_the_binding_joins_the_colours_gateways_to_the_colours_target_group() -> None:
    for colour, triple in both_colours().triples.items():
        spec = triple.target_group_binding["spec"]
        assert spec["targetGroupARN"].endswith(f"/{colour}")
        assert spec["serviceRef"] == {"name": triple.gateway_service["metadata"]["name"], "port": 8080}
        assert spec["targetType"] == "ip"


def test_names_are_dns_labels_and_unique() -> None:
    planned = both_colours()
    objects = [*namespace_objects(planned), *triple_objects(planned)]
    names = [(o["kind"], o["metadata"]["name"]) for o in objects]
    assert len(names) == len(set(names))
    assert all(len(name) <= limits.KUBERNETES_NAME_MAX - len("-1234567890-abcde") for _, name in names)


def test_kubernetes_own_schemas_accept_every_object() -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    planned = both_colours()
    for manifest in [*namespace_objects(planned), *triple_objects(planned)]:
        if manifest["kind"] != "TargetGroupBinding":
            validate.validate(manifest, KUBERNETES, strict=True)
