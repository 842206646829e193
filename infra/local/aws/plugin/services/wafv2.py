"""WAF. The ACL is moto's by name and scope; its rules are recorded beside it, since moto rewrites them."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud, Rejected
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import as_pairs, from_pairs


class WebAcl(Handler):
    type = "aws:wafv2/webAcl:WebAcl"
    service = "wafv2"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        made = self.client(cloud).create_web_acl(
            Name=inputs["name"], Scope=inputs["scope"], Tags=as_pairs(inputs.get("tagsAll")), **_settings(inputs)
        )
        return str(made["Summary"]["Id"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        acl = {"Name": inputs["name"], "Scope": inputs["scope"], "Id": name}
        client.update_web_acl(**acl, LockToken=client.get_web_acl(**acl)["LockToken"], **_settings(inputs))

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.untag_resource(ResourceARN=state["arn"], TagKeys=remove)
        client.tag_resource(ResourceARN=state["arn"], Tags=as_pairs(tags))

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        if name.count("/") != 2:
            raise Rejected(f"{name} - a web ACL is imported by <id>/<name>/<scope>. Give all three")
        identity, acl, scope = name.split("/")
        return identity, {"name": acl, "scope": scope}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        scope = known.get("scope") or "REGIONAL"
        answer = cloud.found(self.client(cloud).get_web_acl, Name=known.get("name") or "", Scope=scope, Id=name)
        if answer is None:
            return None
        found = answer["WebACL"]
        tags = self.client(cloud).list_tags_for_resource(ResourceARN=found["ARN"])["TagInfoForResource"]["TagList"]
        return {
            "arn": found["ARN"],
            "name": found["Name"],
            "scope": scope,
            "capacity": found.get("Capacity", 0),
            "description": found.get("Description", ""),
            "visibilityConfig": {key: found["VisibilityConfig"][wire] for key, wire in METRICS.items()},
            "tagsAll": from_pairs(tags),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        client = self.client(cloud)
        answer = cloud.found(client.get_web_acl, Name=state["name"], Scope=state["scope"], Id=name)
        if answer is not None:
            cloud.until_free(
                client.delete_web_acl, Name=state["name"], Scope=state["scope"], Id=name, LockToken=answer["LockToken"]
            )


METRICS = {
    "sampledRequestsEnabled": "SampledRequestsEnabled",
    "cloudwatchMetricsEnabled": "CloudWatchMetricsEnabled",
    "metricName": "MetricName",
}


def _settings(inputs: Properties) -> dict[str, Any]:
    """What both calls take. An empty description is none to AWS."""
    blocks = inputs["defaultAction"].get("block") is not None
    about = {"Description": inputs["description"]} if inputs.get("description") else {}
    return {
        "DefaultAction": {"Block": {}} if blocks else {"Allow": {}},
        "Rules": [],
        "VisibilityConfig": {wire: inputs["visibilityConfig"][key] for key, wire in METRICS.items()},
        **about,
    }


class WebAclAssociation(Handler):
    type = "aws:wafv2/webAclAssociation:WebAclAssociation"
    service = "wafv2"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self.client(cloud).associate_web_acl(WebACLArn=inputs["webAclArn"], ResourceArn=inputs["resourceArn"])
        return f"{inputs['webAclArn']},{inputs['resourceArn']}"

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        acl, _, resource = name.partition(",")
        return name, {"webAclArn": acl, "resourceArn": resource}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).get_web_acl_for_resource, ResourceArn=known["resourceArn"]) or {}
        if (answer.get("WebACL") or {}).get("ARN") != known["webAclArn"]:
            return None
        return {"webAclArn": known["webAclArn"], "resourceArn": known["resourceArn"]}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).disassociate_web_acl, ResourceArn=state["resourceArn"])
