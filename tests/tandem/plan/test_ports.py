"""The port table, and the security group rules that come from it."""

from __future__ import annotations

import pytest
from tandem import limits
from tandem.config.base import Colour
from tandem.plan.network_policies import triple_policies
from tandem.plan.pods import GATEWAY, ROLE_LABEL, Identity
from tandem.plan.ports import GROUP_OF, Group, Party, double_use, security_group_rules, table

RULES = security_group_rules(limits.GATEWAY_PORT)


def test_every_party_has_a_row() -> None:
    seen = {party for flow in table(limits.GATEWAY_PORT) for party in (flow.caller, flow.callee)}
    assert seen == set(Party), "a party that nobody calls and that calls nobody is a mistake"


def test_every_party_but_the_world_belongs_to_a_group() -> None:
    assert set(GROUP_OF) == set(Party) - {Party.WORLD}
    assert set(GROUP_OF.values()) == set(Group)


def test_only_the_edge_is_open_to_the_world_and_only_on_443() -> None:
    opened = [rule for rule in RULES if rule.direction == "ingress" and rule.peer is None]
    assert [(rule.group, rule.protocol, rule.ports) for rule in opened] == [(Group.EDGE, "tcp", (443, 443))]


def test_every_rule_between_groups_has_its_other_half() -> None:
    halves = {(rule.direction, rule.group, rule.peer, rule.protocol, rule.ports) for rule in RULES if rule.peer}
    for direction, group, peer, protocol, ports in halves:
        other = "egress" if direction == "ingress" else "ingress"
        assert (other, peer, group, protocol, ports) in halves, f"{group} {direction} {peer} {ports}"


def test_efa_has_both_self_rules_for_all_protocols() -> None:
    own = {rule.direction: (rule.peer, rule.protocol, rule.ports) for rule in RULES if rule.group is Group.EFA}
    assert own == {"ingress": (Group.EFA, "all", None), "egress": (Group.EFA, "all", None)}


def test_nothing_but_efa_is_open_for_all_protocols() -> None:
    assert {rule.group for rule in RULES if rule.protocol == "all"} == {Group.EFA}


@pytest.mark.parametrize("group", [Group.PREFILL, Group.DECODE])
def test_engines_are_called_by_the_gateway_and_by_each_other_only(group: Group) -> None:
    callers = {rule.peer for rule in RULES if rule.group is group and rule.direction == "ingress"}
    assert callers == {Group.GATEWAY, {Group.PREFILL: Group.DECODE, Group.DECODE: Group.PREFILL}[group]}


def test_the_bootstrap_port_is_open_on_prefill_only() -> None:
    opened = {(rule.group, rule.peer) for rule in RULES if rule.direction == "ingress" and rule.ports == (8998, 8998)}
    assert opened == {(Group.PREFILL, Group.DECODE), (Group.PREFILL, Group.GATEWAY)}


def test_no_two_rules_say_the_same() -> None:
    said = [(rule.group, rule.direction, rule.peer, rule.protocol, rule.ports) for rule in RULES]
    assert len(said) == len(set(said)), "AWS refuses a duplicate"
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_rules_stay_within_the_groups_quota() -> None:
    for group in Group:
        for direction in ("ingress", "egress"):
            assert sum(rule.group is group and rule.direction == direction for rule in RULES) <= 60


def test_a_description_is_one_that_ec2_takes() -> None:
    for rule in RULES:
        assert len(rule.why) <= 255
        assert all(sign.isalnum() or sign in " ._-:/()#,@[]+=&;{}!$*" for sign in rule.why), rule.why


def test_a_port_used_twice_is_refused_with_both_uses() -> None:
    fault = next(double_use(limits.GATEWAY_METRICS_PORT, "x.gateway_port"))
    assert fault.rule == "gateway listens on 29000/tcp for gateway, on 29000 for gateway-metrics"
    assert list(double_use(limits.GATEWAY_PORT, "x.gateway_port")) == []
    # Engines and gateways have addresses of their own.
    assert list(double_use(limits.ENGINE_PORT, "x.gateway_port")) == []


def test_whatever_a_network_policy_lets_in_the_security_groups_let_in_too() -> None:
    gateway = Identity(Colour.BLUE, "0123456789ab", GATEWAY)
    policies = triple_policies(
        gateway, gateway_port=8080, edge_cidrs=["10.0.16.0/24"], vpc_cidr="10.0.0.0/16", weights_from_s3=True
    )
    groups = {part: Group(part) for part in ("gateway", "prefill", "decode")}
    opened = {(rule.group, rule.peer, rule.ports) for rule in RULES if rule.direction == "ingress"}
    compared = 0
    for policy in policies:
        callee = groups[policy["spec"]["podSelector"]["matchLabels"][ROLE_LABEL]]
        for ingress in policy["spec"]["ingress"]:
            for peer in ingress["from"]:
                pods = peer.get("podSelector")
                caller = groups[pods["matchLabels"][ROLE_LABEL]] if pods else Group.EDGE
                for port in ingress["ports"]:
                    assert (callee, caller, (port["port"], port.get("endPort", port["port"]))) in opened
                    compared += 1
    assert compared == len({rule.name for rule in RULES if rule.direction == "ingress"} & ENGINE_RULES) + 1


ENGINE_RULES = {
    rule.name
    for rule in RULES
    if {rule.group, rule.peer} <= {Group.GATEWAY, Group.PREFILL, Group.DECODE} and rule.group is not rule.peer
}
"""Between parts of a triple; the one that is added is the edge's."""
