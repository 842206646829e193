"""Load balancers, certificates, records and firewalls."""

from __future__ import annotations

from typing import Any

from tests.local.aws.life_cycles.cycle import (
    CHANGED_TAGS,
    Drift,
    Inputs,
    It,
    Lacks,
    LifeCycle,
    Outside,
    Ref,
    Through,
    changed_tags,
    tag_drift,
)
from tests.local.aws.server_process import HOSTED_ZONE

REFUSAL = {"contentType": "text/plain", "messageBody": "no", "statusCode": "404"}
TO_HTTPS = {"protocol": "HTTPS", "port": "443", "statusCode": "HTTP_301"}
METRICS = {"cloudwatchMetricsEnabled": True, "metricName": "edge", "sampledRequestsEnabled": False}


def _forward(blue: Any, green: Any, weight: int) -> Inputs:
    groups = [{"arn": blue, "weight": 100 - weight}, {"arn": green, "weight": weight}]
    sticky = {"enabled": True, "duration": 60}
    return {"type": "forward", "forward": {"targetGroups": groups, "stickiness": sticky}}


def _target_group(ref: Ref) -> Inputs:
    return {
        "port": 30000,
        "protocol": "HTTP",
        "targetType": "ip",
        "vpcId": ref("vpc"),
        "deregistrationDelay": 30,
        "healthCheck": {"path": "/health", "interval": 5, "timeout": 2},
    }


def _acl_rule(limit: int) -> Inputs:
    return {
        "name": "rate",
        "priority": 1,
        "action": {"block": {}},
        "statement": {"rateBasedStatement": {"limit": limit, "aggregateKeyType": "IP"}},
        "visibilityConfig": METRICS,
    }


def _redirect_elsewhere(outside: Outside, it: It) -> None:
    change = {"Name": it["name"], "Type": "CNAME", "TTL": 60, "ResourceRecords": [{"Value": "drifted.example.com"}]}
    outside.client("route53").change_resource_record_sets(
        HostedZoneId=it["zoneId"], ChangeBatch={"Changes": [{"Action": "UPSERT", "ResourceRecordSet": change}]}
    )


ROWS = (
    LifeCycle(
        "balancer",
        "aws:lb/loadBalancer:LoadBalancer",
        lambda ref: {
            "name": "edge",
            "subnets": [ref("subnet-a"), ref("subnet-b")],
            "securityGroups": [ref("group")],
            "idleTimeout": 300,
        },
        lambda ref: {
            "idleTimeout": 600,
            "dropInvalidHeaderFields": True,
            "securityGroups": [ref("group-second")],
            "accessLogs": {"bucket": ref("bucket"), "enabled": True, "prefix": "edge"},
            "enableZonalShift": True,
            "tags": CHANGED_TAGS,
        },
        lambda ref: {"name": "edge-two"},
        drift=Drift(
            lambda outside, it: outside.client("elbv2").modify_load_balancer_attributes(
                LoadBalancerArn=it["id"], Attributes=[{"Key": "idle_timeout.timeout_seconds", "Value": "61"}]
            )
        ),
    ),
    *(
        LifeCycle(
            colour,
            "aws:lb/targetGroup:TargetGroup",
            _target_group,
            lambda ref: {
                "healthCheck": {"path": "/readiness", "interval": 6, "timeout": 3, "matcher": "200-299"},
                "deregistrationDelay": 60,
            },
            lambda ref: {"port": 30001},
            drift=Drift(
                lambda outside, it: outside.client("elbv2").modify_target_group(
                    TargetGroupArn=it["id"], HealthCheckPath="/drifted"
                )
            ),
        )
        for colour in ("blue", "green")
    ),
    LifeCycle(
        "certificate",
        "aws:acm/certificate:Certificate",
        lambda ref: {"domainName": "tandem.example.com", "validationMethod": "DNS"},
        changed_tags,
        lambda ref: {"domainName": "other.example.com"},
        drift=tag_drift("acm"),
    ),
    LifeCycle(
        "validation",
        "aws:acm/certificateValidation:CertificateValidation",
        lambda ref: {"certificateArn": ref("certificate", "arn")},
        Lacks("the real type has no update: it is a wait for one certificate"),
        Through("certificate"),
        Lacks("it is a wait: there is no object that anybody could change"),
        import_id=Lacks("the real type cannot be imported: there is no object behind it"),
    ),
    LifeCycle(
        "listener",
        "aws:lb/listener:Listener",
        lambda ref: {
            "loadBalancerArn": ref("balancer", "arn"),
            "port": 443,
            "protocol": "HTTPS",
            "sslPolicy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
            "certificateArn": ref("validation", "certificateArn"),
            "defaultActions": [{"type": "fixed-response", "fixedResponse": REFUSAL}],
        },
        lambda ref: {"defaultActions": [{"type": "fixed-response", "fixedResponse": {**REFUSAL, "statusCode": "403"}}]},
        Through("balancer"),
        drift=Drift(lambda outside, it: outside.client("elbv2").modify_listener(ListenerArn=it["id"], Port=8443)),
    ),
    LifeCycle(
        "listener-http",
        "aws:lb/listener:Listener",
        lambda ref: {
            "loadBalancerArn": ref("balancer", "arn"),
            "port": 80,
            "protocol": "HTTP",
            "defaultActions": [{"type": "redirect", "redirect": TO_HTTPS}],
        },
        replaced=Through("balancer"),
    ),
    LifeCycle(
        "rule",
        "aws:lb/listenerRule:ListenerRule",
        lambda ref: {
            "listenerArn": ref("listener", "arn"),
            "priority": 10,
            "conditions": [
                {"pathPattern": {"values": ["/v1/models", "/v1/chat/completions"]}},
                {"httpHeader": {"httpHeaderName": "x-tandem", "values": ["yes"]}},
            ],
            "actions": [_forward(ref("blue", "arn"), ref("green", "arn"), 10)],
        },
        lambda ref: {"priority": 20, "actions": [_forward(ref("blue", "arn"), ref("green", "arn"), 50)]},
        Through("listener"),
        drift=Drift(
            lambda outside, it: outside.client("elbv2").set_rule_priorities(
                RulePriorities=[{"RuleArn": it["id"], "Priority": 99}]
            )
        ),
    ),
    LifeCycle(
        "record",
        "aws:route53/record:Record",
        lambda ref: {
            "zoneId": HOSTED_ZONE,
            "name": "proof.tandem.example.com",
            "type": "CNAME",
            "ttl": 60,
            "records": ["one.example.com"],
            "allowOverwrite": True,
        },
        lambda ref: {"ttl": 30, "records": ["two.example.com"]},
        lambda ref: {"name": "other.tandem.example.com"},
        drift=Drift(_redirect_elsewhere),
        import_id=lambda it: f"{it['zoneId']}_{it['name']}_{it['type']}",
    ),
    LifeCycle(
        "record-alias",
        "aws:route53/record:Record",
        lambda ref: {
            "zoneId": HOSTED_ZONE,
            "name": "tandem.example.com",
            "type": "A",
            "aliases": [
                {
                    "name": ref("balancer", "dnsName"),
                    "zoneId": ref("balancer", "zoneId"),
                    "evaluateTargetHealth": True,
                }
            ],
        },
        import_id=lambda it: f"{it['zoneId']}_{it['name']}_{it['type']}",
    ),
    LifeCycle(
        "acl",
        "aws:wafv2/webAcl:WebAcl",
        lambda ref: {
            "name": "edge",
            "scope": "REGIONAL",
            "defaultAction": {"allow": {}},
            "visibilityConfig": METRICS,
            "rules": [_acl_rule(1000)],
        },
        lambda ref: {"description": "changed", "rules": [_acl_rule(500)], "tags": CHANGED_TAGS},
        drift=tag_drift("wafv2"),
        import_id=lambda it: f"{it['id']}/{it['name']}/{it['scope']}",
    ),
    LifeCycle(
        "acl-alone",
        "aws:wafv2/webAcl:WebAcl",
        lambda ref: {
            "name": "alone",
            "scope": "REGIONAL",
            "defaultAction": {"block": {}},
            "visibilityConfig": METRICS,
        },
        replaced=lambda ref: {"name": "alone-two"},
        import_id=lambda it: f"{it['id']}/{it['name']}/{it['scope']}",
    ),
    LifeCycle(
        "acl-association",
        "aws:wafv2/webAclAssociation:WebAclAssociation",
        lambda ref: {"resourceArn": ref("balancer", "arn"), "webAclArn": ref("acl", "arn")},
        Lacks("the real type has no update: both inputs say which association it is"),
        Through("balancer"),
        Drift(
            lambda outside, it: outside.client("wafv2").disassociate_web_acl(ResourceArn=it["resourceArn"]),
            repair="create",
        ),
        delete_first=True,
    ),
)
