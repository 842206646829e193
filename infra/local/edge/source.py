"""Reads load balancers, listeners, rules and target groups from moto, in one thread, as one `Snapshot`."""

from __future__ import annotations

from typing import Any

import boto3
from botocore.config import Config

from local.edge.model import (
    Action,
    Condition,
    FixedResponse,
    Forward,
    HealthCheck,
    Listener,
    LoadBalancer,
    Redirect,
    Rule,
    Snapshot,
    Target,
    TargetGroup,
)

IDLE_TIMEOUT = 60.0
DEREGISTRATION_DELAY = 300.0
"""AWS's defaults, where the attribute is not set."""


class Source:
    """The AWS side. `read` may raise botocore's errors when moto does not answer; the caller tries again."""

    def __init__(self, endpoint: str, region: str) -> None:
        session = boto3.session.Session(aws_access_key_id="local", aws_secret_access_key="local", region_name=region)
        config = Config(retries={"max_attempts": 1}, connect_timeout=2, read_timeout=10)
        self.elbv2 = session.client("elbv2", endpoint_url=endpoint, config=config)
        self._ec2 = session.client("ec2", endpoint_url=endpoint, config=config)
        self._acm = session.client("acm", endpoint_url=endpoint, config=config)
        self._wafv2 = session.client("wafv2", endpoint_url=endpoint, config=config)
        self._subnets: dict[str, str] = {}
        self._domains: dict[str, tuple[str, ...]] = {}

    def read(self) -> Snapshot:
        """Everything as moto has it now."""
        groups = {g["TargetGroupArn"]: self._group(g) for g in self._pages("describe_target_groups", "TargetGroups")}
        balancers = {}
        not_enforced: list[str] = []
        for item in self._pages("describe_load_balancers", "LoadBalancers"):
            if item["Type"] != "application":
                not_enforced.append(f"{item['LoadBalancerName']}: a {item['Type']} load balancer is not simulated")
                continue
            balancers[item["LoadBalancerArn"]] = self._balancer(item)
            not_enforced += self._firewall(item)
        return Snapshot(balancers, groups, tuple(not_enforced))

    def _pages(self, call: str, key: str, **arguments: str) -> list[dict[str, Any]]:
        return [item for page in self.elbv2.get_paginator(call).paginate(**arguments) for item in page[key]]

    def _balancer(self, item: dict[str, Any]) -> LoadBalancer:
        arn = item["LoadBalancerArn"]
        attributes = {
            a["Key"]: a["Value"]
            for a in self.elbv2.describe_load_balancer_attributes(LoadBalancerArn=arn)["Attributes"]
        }
        listeners = [self._listener(x) for x in self._pages("describe_listeners", "Listeners", LoadBalancerArn=arn)]
        return LoadBalancer(
            arn=arn,
            name=item["LoadBalancerName"],
            internet_facing=item["Scheme"] == "internet-facing",
            subnet_cidr=self._cidr(item["AvailabilityZones"][0]["SubnetId"]),
            idle_timeout=float(attributes.get("idle_timeout.timeout_seconds") or IDLE_TIMEOUT),
            listeners=tuple(sorted(listeners, key=lambda listener: listener.port)),
        )

    def _listener(self, item: dict[str, Any]) -> Listener:
        found = self.elbv2.describe_rules(ListenerArn=item["ListenerArn"])["Rules"]
        found.sort(key=lambda rule: float("inf") if rule["IsDefault"] else int(rule["Priority"]))
        certificates = [c["CertificateArn"] for c in item.get("Certificates") or []]
        return Listener(
            arn=item["ListenerArn"],
            port=item["Port"],
            tls=item["Protocol"] == "HTTPS",
            domains=tuple(name for arn in certificates for name in self._names(arn)),
            rules=tuple(
                Rule(
                    rule["RuleArn"],
                    tuple(_condition(c) for c in rule.get("Conditions", ())),
                    _action(rule["Actions"][-1]),
                )
                for rule in found
            ),
        )

    def _group(self, item: dict[str, Any]) -> TargetGroup:
        arn = item["TargetGroupArn"]
        attributes = {
            a["Key"]: a["Value"] for a in self.elbv2.describe_target_group_attributes(TargetGroupArn=arn)["Attributes"]
        }
        described = self.elbv2.describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]
        return TargetGroup(
            arn=arn,
            name=item["TargetGroupName"],
            health_check=HealthCheck(
                path=item.get("HealthCheckPath") or "/",
                interval=float(item.get("HealthCheckIntervalSeconds") or 30),
                timeout=float(item.get("HealthCheckTimeoutSeconds") or 5),
                healthy_after=int(item.get("HealthyThresholdCount") or 5),
                unhealthy_after=int(item.get("UnhealthyThresholdCount") or 2),
                codes=_codes((item.get("Matcher") or {}).get("HttpCode") or "200"),
            ),
            targets=frozenset(
                Target(d["Target"]["Id"], int(d["Target"].get("Port") or item["Port"]))
                for d in described
                if d["TargetHealth"]["State"] != "draining"
            ),
            deregistration_delay=float(attributes.get("deregistration_delay.timeout_seconds") or DEREGISTRATION_DELAY),
            algorithm=attributes.get("load_balancing.algorithm.type") or "round_robin",
        )

    def _cidr(self, subnet: str) -> str:
        if subnet not in self._subnets:
            self._subnets[subnet] = self._ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["CidrBlock"]
        return self._subnets[subnet]

    def _names(self, certificate: str) -> tuple[str, ...]:
        if certificate not in self._domains:
            found = self._acm.describe_certificate(CertificateArn=certificate)["Certificate"]
            names = [found["DomainName"], *found.get("SubjectAlternativeNames", ())]
            self._domains[certificate] = tuple(dict.fromkeys(names))
        return self._domains[certificate]

    def _firewall(self, item: dict[str, Any]) -> list[str]:
        acl = self._wafv2.get_web_acl_for_resource(ResourceArn=item["LoadBalancerArn"]).get("WebACL")
        return [f"{item['LoadBalancerName']}: the rules of web ACL {acl['Name']} are not simulated"] if acl else []


def _condition(item: dict[str, Any]) -> Condition:
    field = item["Field"]
    key = "".join(part.capitalize() for part in field.split("-"))
    config = item.get(f"{key}Config") or {}
    values = config.get("Values") or item.get("Values") or []
    if field == "query-string":
        values = [f"{v.get('Key', '')}={v['Value']}" if v.get("Key") else v["Value"] for v in values]
    return Condition(field, tuple(values), config.get("HttpHeaderName"))


def _action(item: dict[str, Any]) -> Action:
    kind = item["Type"]
    if kind == "fixed-response":
        config = item["FixedResponseConfig"]
        return FixedResponse(
            int(config["StatusCode"]), config.get("ContentType") or "text/plain", config.get("MessageBody") or ""
        )
    if kind == "redirect":
        config = item["RedirectConfig"]
        location = "{}://{}:{}{}?{}".format(
            config.get("Protocol") or "#{protocol}",
            config.get("Host") or "#{host}",
            config.get("Port") or "#{port}",
            config.get("Path") or "/#{path}",
            config.get("Query") or "#{query}",
        )
        return Redirect(301 if config["StatusCode"] == "HTTP_301" else 302, location)
    if kind != "forward":
        return FixedResponse(501, "text/plain", f"action {kind} is not simulated")
    groups = (item.get("ForwardConfig") or {}).get("TargetGroups") or [{"TargetGroupArn": item["TargetGroupArn"]}]
    return Forward(tuple((g["TargetGroupArn"], int(g.get("Weight", 1))) for g in groups))


def _codes(matcher: str) -> frozenset[int]:
    """`200`, `200,202` or `200-299`, as a set."""
    codes: set[int] = set()
    for part in matcher.split(","):
        low, _, high = part.partition("-")
        codes |= set(range(int(low), int(high or low) + 1))
    return frozenset(codes)
