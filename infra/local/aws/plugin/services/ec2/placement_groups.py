"""Placement groups."""

from __future__ import annotations

import hashlib

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Properties, RecordedHandler


class PlacementGroup(RecordedHandler):
    type = "aws:ec2/placementGroup:PlacementGroup"
    simulated = "moto has no placement groups"

    def identity(self, cloud: Cloud, inputs: Properties) -> str:
        return str(inputs["name"])

    def outputs(self, cloud: Cloud, name: str, inputs: Properties) -> Properties:
        digest = hashlib.sha256(f"{cloud.region}/{name}".encode()).hexdigest()[:17]
        return {"arn": cloud.arn("ec2", f"placement-group/{name}"), "placementGroupId": f"pg-{digest}"}
