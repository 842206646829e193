"""Security groups and their rules, each rule a resource of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Properties
from local.aws.plugin.schema import Failure
from local.aws.plugin.services.ec2.base import Ec2Handler, no_inline
from local.aws.plugin.tags import from_pairs


class SecurityGroup(Ec2Handler):
    type = "aws:ec2/securityGroup:SecurityGroup"

    def check(self, inputs: Properties) -> list[Failure]:
        return no_inline(inputs, ("ingress", "egress"), "aws.vpc.SecurityGroupIngressRule or SecurityGroupEgressRule")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_security_group(
            GroupName=inputs["name"],
            Description=inputs.get("description") or "Managed by Pulumi",
            VpcId=inputs["vpcId"],
        )
        return str(made["GroupId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        # As the real provider does with AWS's own rule, out to everywhere: only what is declared may be there.
        _revoke_everything(self.client(cloud), name)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_security_groups", "SecurityGroups", GroupIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"security-group/{name}"),
            "name": found["GroupName"],
            "description": found["Description"],
            "vpcId": found.get("VpcId", ""),
            "ownerId": cloud.account,
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_security_group, GroupId=name)


def _revoke_everything(client: Any, group: str) -> None:
    found = client.describe_security_groups(GroupIds=[group])["SecurityGroups"][0]
    if found["IpPermissions"]:
        client.revoke_security_group_ingress(GroupId=group, IpPermissions=found["IpPermissions"])
    if found["IpPermissionsEgress"]:
        client.revoke_security_group_egress(GroupId=group, IpPermissions=found["IpPermissionsEgress"])


class DefaultSecurityGroup(Ec2Handler):
    """Adopted, not made: every rule is taken away. Deleting it leaves it as it is."""

    type = "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup"

    def check(self, inputs: Properties) -> list[Failure]:
        return no_inline(inputs, ("ingress", "egress"), "groups of your own")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        filters = [{"Name": "vpc-id", "Values": [inputs["vpcId"]]}, {"Name": "group-name", "Values": ["default"]}]
        found = self.client(cloud).describe_security_groups(Filters=filters)["SecurityGroups"][0]
        return str(found["GroupId"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        _revoke_everything(self.client(cloud), name)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_security_groups", "SecurityGroups", GroupIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"security-group/{name}"),
            "name": found["GroupName"],
            "description": found["Description"],
            "vpcId": found["VpcId"],
            "ownerId": cloud.account,
            "ingress": [_block(rule) for rule in found["IpPermissions"]],
            "egress": [_block(rule) for rule in found["IpPermissionsEgress"]],
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        return None


def _block(rule: dict[str, Any]) -> Properties:
    return {
        "protocol": rule["IpProtocol"],
        "fromPort": rule.get("FromPort", 0),
        "toPort": rule.get("ToPort", 0),
        "cidrBlocks": [block["CidrIp"] for block in rule.get("IpRanges", ())],
        "securityGroups": [pair["GroupId"] for pair in rule.get("UserIdGroupPairs", ())],
    }


_PEERS = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")


class SecurityGroupRule(Ec2Handler):
    """Both directions of a rule that is a resource of its own."""

    egress: ClassVar[bool]

    def check(self, inputs: Properties) -> list[Failure]:
        given = [key for key in _PEERS if inputs.get(key)]
        if len(given) == 1:
            return []
        return [Failure(_PEERS[0], f"a rule has one of {', '.join(_PEERS)}. Give just one.")]

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        permission: dict[str, Any] = {"IpProtocol": inputs["ipProtocol"]}
        if inputs.get("fromPort") is not None:
            permission |= {"FromPort": int(inputs["fromPort"]), "ToPort": int(inputs["toPort"])}
        about = {"Description": inputs["description"]} if inputs.get("description") else {}
        if inputs.get("cidrIpv4"):
            permission["IpRanges"] = [{"CidrIp": inputs["cidrIpv4"], **about}]
        elif inputs.get("referencedSecurityGroupId"):
            permission["UserIdGroupPairs"] = [{"GroupId": inputs["referencedSecurityGroupId"], **about}]
        elif inputs.get("prefixListId"):
            permission["PrefixListIds"] = [{"PrefixListId": inputs["prefixListId"], **about}]
        elif inputs.get("cidrIpv6"):
            permission["Ipv6Ranges"] = [{"CidrIpv6": inputs["cidrIpv6"], **about}]
        client = self.client(cloud)
        call = client.authorize_security_group_egress if self.egress else client.authorize_security_group_ingress
        made = call(GroupId=inputs["securityGroupId"], IpPermissions=[permission])["SecurityGroupRules"]
        return str(made[0]["SecurityGroupRuleId"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self._find(cloud, name, known)
        if found is None:
            return None
        ports = (
            {} if found["IpProtocol"] == "-1" else {"fromPort": found.get("FromPort"), "toPort": found.get("ToPort")}
        )
        return {
            "arn": cloud.arn("ec2", f"security-group-rule/{name}"),
            "securityGroupRuleId": name,
            "securityGroupId": found["GroupId"],
            "ipProtocol": found["IpProtocol"],
            "cidrIpv4": found.get("CidrIpv4", ""),
            "cidrIpv6": found.get("CidrIpv6", ""),
            "prefixListId": found.get("PrefixListId", ""),
            "referencedSecurityGroupId": (found.get("ReferencedGroupInfo") or {}).get("GroupId", ""),
            "description": found.get("Description", ""),
            "tagsAll": from_pairs(found.get("Tags")),
            **ports,
        }

    def _find(self, cloud: Cloud, name: str, known: Properties) -> Any:
        client = self.client(cloud)
        # moto finds rules by their group only; a group's rules are few.
        filters = [{"Name": "group-id", "Values": [known["securityGroupId"]]}] if known.get("securityGroupId") else []
        answer = cloud.found(client.describe_security_group_rules, **({"Filters": filters} if filters else {}))
        rules = (answer or {}).get("SecurityGroupRules", ())
        return next((r for r in rules if r["SecurityGroupRuleId"] == name and r["IsEgress"] == self.egress), None)

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        # The rule keeps its id. moto demands ports where AWS takes none: -1 says "all" to both.
        rule = {
            "IpProtocol": inputs["ipProtocol"],
            "FromPort": -1 if inputs.get("fromPort") is None else int(inputs["fromPort"]),
            "ToPort": -1 if inputs.get("toPort") is None else int(inputs["toPort"]),
            "Description": inputs.get("description") or "",
        }
        peers = {
            "cidrIpv4": "CidrIpv4",
            "cidrIpv6": "CidrIpv6",
            "referencedSecurityGroupId": "ReferencedGroupId",
            "prefixListId": "PrefixListId",
        }
        rule |= {theirs: inputs[ours] for ours, theirs in peers.items() if inputs.get(ours)}
        self.client(cloud).modify_security_group_rules(
            GroupId=inputs["securityGroupId"],
            SecurityGroupRules=[{"SecurityGroupRuleId": name, "SecurityGroupRule": rule}],
        )

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        # Another value of the same kind of peer is changed in place; another kind of peer is another rule.
        before = {key for key in _PEERS if state.get(key)}
        after = {key for key in _PEERS if inputs.get(key)}
        return dict.fromkeys(_PEERS, before != after)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        client = self.client(cloud)
        call = client.revoke_security_group_egress if self.egress else client.revoke_security_group_ingress
        cloud.until_free(call, GroupId=state["securityGroupId"], SecurityGroupRuleIds=[name])


class IngressRule(SecurityGroupRule):
    type = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    egress = False


class EgressRule(SecurityGroupRule):
    type = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
    egress = True
