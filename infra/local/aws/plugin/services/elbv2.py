"""Load balancers, target groups, listeners and rules. Ids are ARNs."""

from __future__ import annotations

from typing import Any, ClassVar

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.schema import Failure
from local.aws.plugin.tags import as_pairs, from_pairs


class ElbHandler(Handler):
    """Tags go by ARN, and so does everything else."""

    service = "elbv2"

    def tags_of(self, cloud: Cloud, name: str) -> dict[str, str]:
        """The tags of an object."""
        described = self.client(cloud).describe_tags(ResourceArns=[name])["TagDescriptions"]
        return from_pairs(described[0]["Tags"]) if described else {}

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.remove_tags(ResourceArns=[name], TagKeys=remove)
        if tags:
            client.add_tags(ResourceArns=[name], Tags=as_pairs(tags))


def _attributes(
    inputs: Properties, names: dict[str, str], changed: frozenset[str] | None = None
) -> list[dict[str, str]]:
    """AWS's attribute list; flags and numbers are texts there."""
    return [
        {"Key": wire, "Value": _text(inputs[key])}
        for key, wire in names.items()
        if inputs.get(key) is not None and (changed is None or key in changed)
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _typed(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdigit() else text


class LoadBalancer(ElbHandler):
    type = "aws:lb/loadBalancer:LoadBalancer"
    ATTRIBUTES: ClassVar = {
        "idleTimeout": "idle_timeout.timeout_seconds",
        "clientKeepAlive": "client_keep_alive.seconds",
        "enableDeletionProtection": "deletion_protection.enabled",
        "desyncMitigationMode": "routing.http.desync_mitigation_mode",
        "dropInvalidHeaderFields": "routing.http.drop_invalid_header_fields.enabled",
        "enableCrossZoneLoadBalancing": "load_balancing.cross_zone.enabled",
        "enableHttp2": "routing.http2.enabled",
        "enableTlsVersionAndCipherSuiteHeaders": "routing.http.x_amzn_tls_version_and_cipher_suite.enabled",
        "enableWafFailOpen": "waf.fail_open.enabled",
        "enableXffClientPort": "routing.http.xff_client_port.enabled",
        "enableZonalShift": "zonal_shift.config.enabled",
        "preserveHostHeader": "routing.http.preserve_host_header.enabled",
        "xffHeaderProcessingMode": "routing.http.xff_header_processing.mode",
    }
    LOGS: ClassVar = {"accessLogs": "access_logs.s3", "connectionLogs": "connection_logs.s3"}
    NO_LOGS: ClassVar = {"enabled": False, "bucket": "", "prefix": ""}

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_load_balancer(
            Name=inputs["name"],
            Subnets=inputs["subnets"],
            SecurityGroups=inputs.get("securityGroups") or [],
            Scheme="internal" if inputs.get("internal") else "internet-facing",
            Type=inputs.get("loadBalancerType") or "application",
            Tags=as_pairs(inputs.get("tagsAll")),
        )
        return str(made["LoadBalancers"][0]["LoadBalancerArn"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        logs = frozenset(key for key in self.LOGS if inputs.get(key))
        self._set(cloud, name, _attributes(inputs, self.ATTRIBUTES) + self._logs(inputs, logs))

    def _logs(self, inputs: Properties, changed: frozenset[str]) -> list[dict[str, str]]:
        return [
            {"Key": f"{prefix}.{key}", "Value": _text(value)}
            for name, prefix in self.LOGS.items()
            if name in changed
            for key, value in {**self.NO_LOGS, **(inputs.get(name) or {})}.items()
        ]

    def _set(self, cloud: Cloud, name: str, attributes: list[dict[str, str]]) -> None:
        if attributes:
            self.client(cloud).modify_load_balancer_attributes(LoadBalancerArn=name, Attributes=attributes)

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "securityGroups" in changed:
            client.set_security_groups(LoadBalancerArn=name, SecurityGroups=inputs.get("securityGroups") or [])
        if "subnets" in changed:
            client.set_subnets(LoadBalancerArn=name, Subnets=inputs["subnets"])
        self._set(cloud, name, _attributes(inputs, self.ATTRIBUTES, changed) + self._logs(inputs, changed))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        answer = cloud.found(client.describe_load_balancers, LoadBalancerArns=[name])
        if answer is None or not answer["LoadBalancers"]:
            return None
        found = answer["LoadBalancers"][0]
        values = {
            a["Key"]: a["Value"] for a in client.describe_load_balancer_attributes(LoadBalancerArn=name)["Attributes"]
        }
        return {
            "arn": name,
            "arnSuffix": name.partition("loadbalancer/")[2],
            "name": found["LoadBalancerName"],
            "dnsName": found["DNSName"],
            "zoneId": found["CanonicalHostedZoneId"],
            "vpcId": found["VpcId"],
            "internal": found["Scheme"] == "internal",
            "loadBalancerType": found["Type"],
            "securityGroups": found.get("SecurityGroups", []),
            "subnets": [zone["SubnetId"] for zone in found["AvailabilityZones"]],
            **{key: _typed(values[wire]) for key, wire in self.ATTRIBUTES.items() if wire in values},
            **{
                name: {key: _typed(values.get(f"{prefix}.{key}", "")) for key in self.NO_LOGS}
                for name, prefix in self.LOGS.items()
            },
            "tagsAll": self.tags_of(cloud, name),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_load_balancer, LoadBalancerArn=name)


class TargetGroup(ElbHandler):
    type = "aws:lb/targetGroup:TargetGroup"
    ATTRIBUTES: ClassVar = {
        "deregistrationDelay": "deregistration_delay.timeout_seconds",
        "slowStart": "slow_start.duration_seconds",
        "loadBalancingAlgorithmType": "load_balancing.algorithm.type",
    }
    CHECK: ClassVar = {
        "enabled": "HealthCheckEnabled",
        "path": "HealthCheckPath",
        "port": "HealthCheckPort",
        "protocol": "HealthCheckProtocol",
        "interval": "HealthCheckIntervalSeconds",
        "timeout": "HealthCheckTimeoutSeconds",
        "healthyThreshold": "HealthyThresholdCount",
        "unhealthyThreshold": "UnhealthyThresholdCount",
    }

    def _check(self, inputs: Properties) -> dict[str, Any]:
        check = inputs.get("healthCheck") or {}
        kinds: dict[str, type] = {"enabled": bool, "path": str, "port": str, "protocol": str}
        made = {wire: kinds.get(key, int)(check[key]) for key, wire in self.CHECK.items() if check.get(key) is not None}
        if check.get("matcher"):
            made["Matcher"] = {"HttpCode": check["matcher"]}
        return made

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_target_group(
            Name=inputs["name"],
            Port=int(inputs["port"]),
            Protocol=inputs.get("protocol") or "HTTP",
            VpcId=inputs["vpcId"],
            TargetType=inputs.get("targetType") or "instance",
            Tags=as_pairs(inputs.get("tagsAll")),
            **self._check(inputs),
        )
        return str(made["TargetGroups"][0]["TargetGroupArn"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        self._set(cloud, name, _attributes(inputs, self.ATTRIBUTES))

    def _set(self, cloud: Cloud, name: str, attributes: list[dict[str, str]]) -> None:
        if attributes:
            self.client(cloud).modify_target_group_attributes(TargetGroupArn=name, Attributes=attributes)

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        if "healthCheck" in changed:
            self.client(cloud).modify_target_group(TargetGroupArn=name, **self._check(inputs))
        self._set(cloud, name, _attributes(inputs, self.ATTRIBUTES, changed))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        answer = cloud.found(client.describe_target_groups, TargetGroupArns=[name])
        if answer is None or not answer["TargetGroups"]:
            return None
        found = answer["TargetGroups"][0]
        values = {
            a["Key"]: a["Value"] for a in client.describe_target_group_attributes(TargetGroupArn=name)["Attributes"]
        }
        check = {key: found[wire] for key, wire in self.CHECK.items() if wire in found}
        check["matcher"] = (found.get("Matcher") or {}).get("HttpCode", "")
        return {
            "arn": name,
            "arnSuffix": name.rpartition(":")[2],
            "name": found["TargetGroupName"],
            "port": found["Port"],
            "protocol": found["Protocol"],
            "targetType": found["TargetType"],
            "vpcId": found["VpcId"],
            "healthCheck": check,
            **{key: _typed(values[wire]) for key, wire in self.ATTRIBUTES.items() if wire in values},
            "tagsAll": self.tags_of(cloud, name),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_target_group, TargetGroupArn=name)


def _unserved(path: str, blocks: Any, served: frozenset[str]) -> list[Failure]:
    """Blocks of a kind that the local load balancer does not serve: dropping one in silence would let everybody in."""
    if not isinstance(blocks, list):
        return []
    reason = f"the local load balancer does not serve it. It serves {', '.join(sorted(served))}."
    return [
        Failure(f"{path}[{index}].{kind}", reason)
        for index, block in enumerate(blocks)
        if isinstance(block, dict)
        for kind, value in block.items()
        if kind not in served and value is not None
    ]


ACTIONS = frozenset({"type", "order", "targetGroupArn", "forward", "fixedResponse", "redirect"})
REDIRECT = {
    "host": "Host",
    "path": "Path",
    "port": "Port",
    "protocol": "Protocol",
    "query": "Query",
    "statusCode": "StatusCode",
}
"""A redirection's parts: wire name -> AWS's."""


def _action(action: Properties) -> dict[str, Any]:
    made: dict[str, Any] = {"Type": action["type"]}
    if action.get("order"):
        made["Order"] = int(action["order"])
    if action.get("targetGroupArn"):
        made["TargetGroupArn"] = action["targetGroupArn"]
    if action.get("forward"):
        groups = action["forward"]["targetGroups"]
        made["ForwardConfig"] = {
            "TargetGroups": [
                {"TargetGroupArn": g["arn"], "Weight": int(1 if g.get("weight") is None else g["weight"])}
                for g in groups
            ]
        }
        sticky = action["forward"].get("stickiness")
        if sticky and sticky.get("enabled"):
            config = {"Enabled": True, "DurationSeconds": int(sticky["duration"])}
            made["ForwardConfig"]["TargetGroupStickinessConfig"] = config
    if action.get("fixedResponse"):
        fixed = action["fixedResponse"]
        made["FixedResponseConfig"] = {
            "ContentType": fixed["contentType"],
            "MessageBody": fixed.get("messageBody") or "",
            "StatusCode": str(fixed.get("statusCode") or 200),
        }
    if action.get("redirect"):
        redirect = action["redirect"]
        made["RedirectConfig"] = {wire: str(redirect[key]) for key, wire in REDIRECT.items() if redirect.get(key)}
    return made


def _read_action(action: dict[str, Any]) -> Properties:
    made: Properties = {"type": action["Type"]}
    forward = action.get("ForwardConfig") or {}
    if forward.get("TargetGroups"):
        groups = [{"arn": g["TargetGroupArn"], "weight": int(g.get("Weight", 1))} for g in forward["TargetGroups"]]
        made["forward"] = {"targetGroups": groups}
        sticky = forward.get("TargetGroupStickinessConfig") or {}
        if sticky.get("Enabled"):
            made["forward"]["stickiness"] = {"enabled": True, "duration": sticky.get("DurationSeconds")}
    elif action.get("TargetGroupArn"):
        made["targetGroupArn"] = action["TargetGroupArn"]
    if action.get("FixedResponseConfig"):
        fixed = action["FixedResponseConfig"]
        made["fixedResponse"] = {
            "contentType": fixed.get("ContentType", ""),
            "messageBody": fixed.get("MessageBody", ""),
            "statusCode": fixed["StatusCode"],
        }
    if action.get("RedirectConfig"):
        redirect = action["RedirectConfig"]
        made["redirect"] = {key: redirect[wire] for key, wire in REDIRECT.items() if redirect.get(wire)}
    return made


class Listener(ElbHandler):
    type = "aws:lb/listener:Listener"

    def check(self, inputs: Properties) -> list[Failure]:
        return _unserved("defaultActions", inputs.get("defaultActions"), ACTIONS)

    def _arguments(self, inputs: Properties) -> dict[str, Any]:
        made: dict[str, Any] = {"DefaultActions": [_action(action) for action in inputs["defaultActions"]]}
        if inputs.get("port"):
            made["Port"] = int(inputs["port"])
        if inputs.get("protocol"):
            made["Protocol"] = inputs["protocol"]
        if inputs.get("sslPolicy"):
            made["SslPolicy"] = inputs["sslPolicy"]
        if inputs.get("certificateArn"):
            made["Certificates"] = [{"CertificateArn": inputs["certificateArn"]}]
        return made

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_listener(
            LoadBalancerArn=inputs["loadBalancerArn"], Tags=as_pairs(inputs.get("tagsAll")), **self._arguments(inputs)
        )
        return str(made["Listeners"][0]["ListenerArn"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.client(cloud).modify_listener(ListenerArn=name, **self._arguments(inputs))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).describe_listeners, ListenerArns=[name])
        if answer is None or not answer["Listeners"]:
            return None
        found = answer["Listeners"][0]
        certificates = found.get("Certificates") or [{}]
        return {
            "arn": name,
            "loadBalancerArn": found["LoadBalancerArn"],
            "port": found["Port"],
            "protocol": found["Protocol"],
            "sslPolicy": found.get("SslPolicy", ""),
            "certificateArn": certificates[0].get("CertificateArn", ""),
            "defaultActions": [_read_action(action) for action in found["DefaultActions"]],
            "tagsAll": self.tags_of(cloud, name),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_listener, ListenerArn=name)


CONDITIONS = {
    "pathPattern": ("path-pattern", "PathPatternConfig"),
    "hostHeader": ("host-header", "HostHeaderConfig"),
    "httpRequestMethod": ("http-request-method", "HttpRequestMethodConfig"),
    "sourceIp": ("source-ip", "SourceIpConfig"),
}


class ListenerRule(ElbHandler):
    type = "aws:lb/listenerRule:ListenerRule"

    def check(self, inputs: Properties) -> list[Failure]:
        return [
            *_unserved("actions", inputs.get("actions"), ACTIONS),
            *_unserved("conditions", inputs.get("conditions"), frozenset({*CONDITIONS, "httpHeader"})),
        ]

    def _arguments(self, inputs: Properties) -> dict[str, Any]:
        conditions = []
        for condition in inputs["conditions"]:
            for key, (field, config) in CONDITIONS.items():
                if condition.get(key):
                    conditions.append({"Field": field, config: {"Values": condition[key]["values"]}})
            if condition.get("httpHeader"):
                header = condition["httpHeader"]
                config_value = {"HttpHeaderName": header["httpHeaderName"], "Values": header["values"]}
                conditions.append({"Field": "http-header", "HttpHeaderConfig": config_value})
        return {"Conditions": conditions, "Actions": [_action(action) for action in inputs["actions"]]}

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_rule(
            ListenerArn=inputs["listenerArn"],
            Priority=int(inputs.get("priority") or self._free_priority(cloud, inputs["listenerArn"])),
            Tags=as_pairs(inputs.get("tagsAll")),
            **self._arguments(inputs),
        )
        return str(made["Rules"][0]["RuleArn"])

    def _free_priority(self, cloud: Cloud, listener: str) -> int:
        """After all others, as the real provider chooses."""
        rules = self.client(cloud).describe_rules(ListenerArn=listener)["Rules"]
        return max((int(rule["Priority"]) for rule in rules if rule["Priority"].isdigit()), default=0) + 1

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "priority" in changed:
            client.set_rule_priorities(RulePriorities=[{"RuleArn": name, "Priority": int(inputs["priority"])}])
        if changed & {"actions", "conditions"}:
            client.modify_rule(RuleArn=name, **self._arguments(inputs))

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        listener = name.replace(":listener-rule/", ":listener/").rpartition("/")[0]
        return name, {"listenerArn": listener}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).describe_rules, RuleArns=[name])
        if answer is None or not answer["Rules"]:
            return None
        found = answer["Rules"][0]
        conditions = []
        for condition in found["Conditions"]:
            for key, (field, config) in CONDITIONS.items():
                if condition["Field"] == field:
                    values = (condition.get(config) or {}).get("Values") or condition.get("Values") or []
                    conditions.append({key: {"values": values}})
            if condition["Field"] == "http-header":
                header = condition["HttpHeaderConfig"]
                read = {"httpHeaderName": header["HttpHeaderName"], "values": header["Values"]}
                conditions.append({"httpHeader": read})
        return {
            "arn": name,
            "priority": int(found["Priority"]),
            "conditions": conditions,
            "actions": [_read_action(action) for action in found["Actions"]],
            "tagsAll": self.tags_of(cloud, name),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_rule, RuleArn=name)
