"""Route 53 records."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties


class Record(Handler):
    """A record set. Its zone, name and type say which it is; it keeps them whatever it answers."""

    type = "aws:route53/record:Record"
    service = "route53"

    def _change(self, cloud: Cloud, action: str, inputs: Properties) -> None:
        batch = {"Changes": [{"Action": action, "ResourceRecordSet": _record_set(inputs)}]}
        self.client(cloud).change_resource_record_sets(HostedZoneId=inputs["zoneId"], ChangeBatch=batch)

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        self._change(cloud, "UPSERT" if inputs.get("allowOverwrite") else "CREATE", inputs)
        return f"{inputs['zoneId']}_{inputs['name'].lower()}_{inputs['type']}"

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        if "type" in changed:
            self.delete(cloud, name, state)
        self._change(cloud, "UPSERT", inputs)

    def imported(self, cloud: Cloud, name: str) -> tuple[str, Properties]:
        # `ZONE_name_TYPE`, where the name itself may hold underscores.
        zone, _, rest = name.partition("_")
        record, _, kind = rest.rpartition("_")
        return name, {"zoneId": zone, "name": record, "type": kind}

    def _find(self, cloud: Cloud, known: Properties) -> Any:
        answer = cloud.found(self.client(cloud).list_resource_record_sets, HostedZoneId=known["zoneId"])
        wanted = known["name"].rstrip(".").lower()
        return next(
            (
                found
                for found in (answer or {}).get("ResourceRecordSets", ())
                if found["Name"].rstrip(".").lower() == wanted and found["Type"] == known["type"]
            ),
            None,
        )

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = self._find(cloud, known)
        if found is None:
            return None
        alias = found.get("AliasTarget")
        read = (
            {
                "name": alias["DNSName"].rstrip("."),
                "zoneId": alias["HostedZoneId"],
                "evaluateTargetHealth": alias["EvaluateTargetHealth"],
            }
            if alias
            else None
        )
        return {
            **{key: known[key] for key in ("zoneId", "name", "type")},
            "fqdn": found["Name"].rstrip("."),
            "records": [record["Value"] for record in found.get("ResourceRecords", ())],
            "ttl": found.get("TTL"),
            "aliases": [read] if read else [],
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        # Route 53 deletes only what is named exactly as it is.
        found = self._find(cloud, state)
        if found is not None:
            batch = {"Changes": [{"Action": "DELETE", "ResourceRecordSet": found}]}
            call = self.client(cloud).change_resource_record_sets
            cloud.until_free(call, HostedZoneId=state["zoneId"], ChangeBatch=batch)


def _record_set(inputs: Properties) -> dict[str, Any]:
    made: dict[str, Any] = {"Name": inputs["name"], "Type": inputs["type"]}
    if inputs.get("aliases"):
        alias = inputs["aliases"][0]
        made["AliasTarget"] = {
            "HostedZoneId": alias["zoneId"],
            "DNSName": alias["name"],
            "EvaluateTargetHealth": bool(alias.get("evaluateTargetHealth")),
        }
    else:
        values = [{"Value": value} for value in inputs["records"]]
        made |= {"TTL": int(inputs.get("ttl") or 300), "ResourceRecords": values}
    return made
