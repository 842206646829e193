"""Security-group rules whose peer is a group or a prefix list, as EC2 keeps them.

moto leaves such a rule's peer as it was when the rule is modified, and answers no description of it.
"""

from __future__ import annotations

from typing import Any


def install() -> None:
    """Make moto's EC2 keep every kind of peer."""
    from moto.ec2.models import security_groups as models

    modify = models.SecurityGroupBackend.modify_security_group_rules

    def modify_with_peer(self: Any, group_id: str, rules: dict[str, dict[str, Any]]) -> None:
        modify(self, group_id, rules)
        group = self.get_security_group_by_name_or_id(group_id)
        for rule_id, changed in rules.items():
            rule = group.get_rule(rule_id)
            if changed.get("CidrIpv6"):
                rule.ip_range["CidrIpv6"] = changed["CidrIpv6"]
            if changed.get("CidrIpv4") or changed.get("CidrIpv6"):
                continue
            # moto keeps a description with an address range, which this rule does not have.
            description = rule.ip_range.pop("Description", None)
            if changed.get("ReferencedGroupId"):
                about = {} if description is None else {"Description": description}
                rule.source_group = {**rule.source_group, "GroupId": changed["ReferencedGroupId"], **about}
            if changed.get("PrefixListId"):
                rule.prefix_list_id = changed["PrefixListId"]

    def description(rule: Any) -> str | None:
        found: str | None = rule.ip_range.get("Description") or rule.source_group.get("Description")
        return found

    models.SecurityGroupBackend.modify_security_group_rules = modify_with_peer
    models.SecurityGroupRule.description = property(description)
