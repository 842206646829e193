"""Every stack file of the checkout holds together with the others of its environment."""

from __future__ import annotations

import pytest
import yaml
from tandem.config.cluster import ClusterStack
from tandem.config.edge import EdgeStack
from tandem.config.environment import load_environment
from tandem.config.network import NetworkStack
from tandem.config.registry import RegistryStack
from tandem.config.stack import USES
from tandem.plan.cluster import plan_cluster
from tandem.plan.edge import plan_edge
from tandem.plan.network import plan_network
from tandem.plan.registry import plan_registry

from tests.tandem.stacks import STACKS, load, names

ENVIRONMENTS = sorted(file.stem for file in (STACKS / "environments").glob("*.yaml"))


def test_there_are_a_local_and_a_real_environment() -> None:
    kinds = {load_environment(STACKS / "environments" / f"{name}.yaml").cloud.kind for name in ENVIRONMENTS}
    assert kinds == {"local", "aws"}


@pytest.mark.parametrize("name", names())
def test_a_stack_file_is_valid_and_named_after_what_it_says(name: str) -> None:
    stack = load(name)
    assert name in (f"{stack.environment}-{stack.kind}", f"{stack.environment}-{stack.site.name}-{stack.kind}")
    assert stack.environment in ENVIRONMENTS


@pytest.mark.parametrize("name", names())
def test_a_stack_reads_stacks_that_exist_and_are_of_the_kind_it_expects(name: str) -> None:
    stack = load(name)
    for kind, used in stack.uses.items():
        assert kind in USES[stack.kind]
        assert load(used).kind == kind
        assert load(used).environment == stack.environment


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_environment_has_one_account_and_one_region_a_site(environment: str) -> None:
    stacks = [load(name) for name in names(environment)]
    assert len({stack.account_id for stack in stacks}) == 1
    sites = {(stack.site.name, stack.site.kind, stack.site.region) for stack in stacks}
    assert len(sites) == len({name for name, _, _ in sites})


@pytest.mark.parametrize("name", names())
def test_default_providers_are_off(name: str) -> None:
    document = yaml.safe_load((STACKS / f"Pulumi.{name}.yaml").read_text(encoding="utf-8"))
    assert document["config"]["pulumi:disable-default-providers"] == ["*"]


@pytest.mark.parametrize("name", names("local"))
def test_a_local_stack_file_is_not_changed_by_the_first_up(name: str) -> None:
    document = yaml.safe_load((STACKS / f"Pulumi.{name}.yaml").read_text(encoding="utf-8"))
    assert "encryptionsalt" in document, "without it, `pulumi stack init` writes one into the checkout"


@pytest.mark.parametrize("name", names())
def test_a_stack_can_be_planned_and_its_names_fit(name: str) -> None:
    stack = load(name)
    match stack:
        case RegistryStack():
            plan_registry(stack)
        case NetworkStack():
            plan_network(stack, name)
        case ClusterStack():
            network = load(stack.uses["network"])
            assert isinstance(network, NetworkStack)
            plan_cluster(stack, zones=network.zones, kv_zone_id=network.kv_zone, vpc_cidr=network.vpc.cidr, at=name)
        case EdgeStack():
            network = load(stack.uses["network"])
            assert isinstance(network, NetworkStack)
            plan_edge(stack, gateway_port=network.gateway_port)


def test_the_local_network_leaves_the_local_cloud_its_addresses() -> None:
    network = load("local-network")
    assert isinstance(network, NetworkStack)
    assert network.vpc.cidr == "10.200.0.0/16"
    assert "10.200.0.0/24" in network.vpc.reserved


def test_the_local_stacks_share_one_salt() -> None:
    """The engine derives a key of a million rounds for each salt that it meets; a stack that reads four others would wait for five."""
    salts = {yaml.safe_load(file.read_text())["encryptionsalt"] for file in STACKS.glob("Pulumi.local-*.yaml")}
    assert len(salts) == 1
