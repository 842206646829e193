"""Route 53 records."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties


class Record(Handler):
    type = "aws:route53/record:Record"
    service = "route53"
    unkept = ("allowOverwrite",)

    def _set(self, inputs: Properties) -> dict[str, Any]:
        made: dict[str, Any] = {"Name": inputs["name"], "Type": inputs["type"]}
        if inputs.get("aliases"):
            alias = inputs["aliases"][0]
            made["AliasTarget"] = {
                "HostedZoneId": alias["zoneId"],
                "DNSName": alias["name"],
                "EvaluateTargetHealth": bool(alias.get("evaluateTargetHealth")),
            }
        else:
            made |= {"TTL": int(inputs.get("ttl") or 300), "ResourceRecords": [{"Value": v} for v in inputs["records"]]}
        return made

    def _change(self, cloud: Cloud, action: str, inputs: Properties) -> None:
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": self._set(inputs)}]}
        self.client(cloud).change_resource_record_sets(HostedZoneId=inputs["zoneId"], ChangeBatch=batch)

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self._change(cloud, "UPSERT", inputs)
        return f"{inputs['zoneId']}_{inputs['name']}_{inputs['type']}"

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self._change(cloud, "UPSERT", inputs)

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        # `ZONE_name_TYPE`, where the name itself may hold underscores.
        zone, _, rest = name.partition("_")
        record, _, kind = rest.rpartition("_")
        return name, {"zoneId": zone, "name": record, "type": kind}

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        answer = cloud.found(self.client(cloud).list_resource_record_sets, HostedZoneId=known["zoneId"])
        wanted = known["name"].rstrip(".")
        for found in (answer or {}).get("ResourceRecordSets", ()):
            if found["Name"].rstrip(".") == wanted and found["Type"] == known["type"]:
                values = [record["Value"] for record in found.get("ResourceRecords", ())]
                return {"fqdn": wanted, "records": values, "ttl": found.get("TTL", 0)}
        return None

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self._change, cloud=cloud, action="DELETE", inputs=state)
