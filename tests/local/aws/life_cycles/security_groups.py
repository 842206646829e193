"""Security groups, their rules, and an endpoint that stands behind one."""

from __future__ import annotations

from tests.local.aws.life_cycles.cycle import Drift, It, LifeCycle, Outside, changed_tags, tag_drift


def _open_wide(outside: Outside, it: It) -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 1, "ToPort": 2, "CidrIpv4": "10.0.0.0/8"}
    outside.client("ec2").modify_security_group_rules(
        GroupId=it["securityGroupId"],
        SecurityGroupRules=[{"SecurityGroupRuleId": it["id"], "SecurityGroupRule": rule}],
    )


def _revoke(outside: Outside, it: It) -> None:
    outside.client("ec2").revoke_security_group_egress(GroupId=it["securityGroupId"], SecurityGroupRuleIds=[it["id"]])


ROWS = (
    LifeCycle(
        "group",
        "aws:ec2/securityGroup:SecurityGroup",
        lambda ref: {"vpcId": ref("vpc"), "name": "first", "description": "one"},
        changed_tags,
        drift=tag_drift(),
    ),
    LifeCycle("group-second", "aws:ec2/securityGroup:SecurityGroup", lambda ref: {"vpcId": ref("vpc")}),
    LifeCycle(
        "group-alone",
        "aws:ec2/securityGroup:SecurityGroup",
        lambda ref: {"vpcId": ref("vpc")},
        replaced=lambda ref: {"description": "another"},
    ),
    LifeCycle(
        "default-group",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        lambda ref: {"vpcId": ref("vpc")},
        changed_tags,
        lambda ref: {"vpcId": ref("vpc-second")},
        drift=tag_drift(),
    ),
    LifeCycle(
        "ingress",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        lambda ref: {
            "securityGroupId": ref("group"),
            "ipProtocol": "tcp",
            "fromPort": 30000,
            "toPort": 30000,
            "cidrIpv4": "10.200.0.0/16",
            "description": "one",
        },
        lambda ref: {"fromPort": 30001, "toPort": 30002, "description": "two"},
        lambda ref: {"cidrIpv4": None, "cidrIpv6": "2001:db8::/32"},
        drift=Drift(_open_wide),
    ),
    LifeCycle(
        "ingress-from-group",
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        lambda ref: {
            "securityGroupId": ref("group"),
            "ipProtocol": "tcp",
            "fromPort": 8998,
            "toPort": 8998,
            "referencedSecurityGroupId": ref("group"),
            "description": "one",
        },
        lambda ref: {"referencedSecurityGroupId": ref("group-second"), "description": "two"},
    ),
    LifeCycle(
        "egress",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        lambda ref: {
            "securityGroupId": ref("group"),
            "ipProtocol": "-1",
            "referencedSecurityGroupId": ref("group"),
        },
        changed_tags,
        lambda ref: {"referencedSecurityGroupId": None, "cidrIpv4": "0.0.0.0/0"},
        drift=Drift(_revoke, repair="create"),
    ),
    LifeCycle(
        "sts-endpoint",
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        lambda ref: {
            "vpcId": ref("vpc"),
            "serviceName": "com.amazonaws.us-east-1.sts",
            "vpcEndpointType": "Interface",
            "subnetIds": [ref("subnet-b"), ref("subnet-a")],
            "securityGroupIds": [ref("group")],
            "privateDnsEnabled": True,
        },
        lambda ref: {
            "subnetIds": [ref("subnet-a")],
            "securityGroupIds": [ref("group-second")],
            "privateDnsEnabled": False,
        },
    ),
)
