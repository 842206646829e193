"""Flow logs of a VPC."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud, Rejected
from local.aws.plugin.handler import Properties
from local.aws.plugin.services.ec2.base import Ec2Handler
from local.aws.plugin.tags import from_pairs


class FlowLog(Ec2Handler):
    type = "aws:ec2/flowLog:FlowLog"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        arguments: dict[str, Any] = {}
        for key, wire in (
            ("iamRoleArn", "DeliverLogsPermissionArn"),
            ("logFormat", "LogFormat"),
            ("logDestination", "LogDestination"),
        ):
            if inputs.get(key):
                arguments[wire] = inputs[key]
        made = self.client(cloud).create_flow_logs(
            ResourceIds=[inputs["vpcId"]],
            ResourceType="VPC",
            TrafficType=inputs.get("trafficType") or "ALL",
            LogDestinationType=inputs.get("logDestinationType") or "cloud-watch-logs",
            MaxAggregationInterval=int(inputs.get("maxAggregationInterval") or 600),
            **arguments,
        )
        if made.get("Unsuccessful"):
            raise Rejected(made["Unsuccessful"][0]["Error"]["Message"])
        return str(made["FlowLogIds"][0])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self.first(cloud, "describe_flow_logs", "FlowLogs", FlowLogIds=[name])
        if found is None:
            return None
        return {
            "arn": cloud.arn("ec2", f"vpc-flow-log/{name}"),
            "vpcId": found["ResourceId"],
            "trafficType": found["TrafficType"],
            "logDestination": found.get("LogDestination", ""),
            "logDestinationType": found["LogDestinationType"],
            "maxAggregationInterval": found["MaxAggregationInterval"],
            "iamRoleArn": found.get("DeliverLogsPermissionArn", ""),
            "logFormat": found.get("LogFormat", ""),
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_flow_logs, FlowLogIds=[name])
