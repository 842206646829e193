"""Secrets Manager, CloudWatch log groups, ACM, Route 53, budgets: small services."""

from __future__ import annotations

from typing import Any

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import as_pairs, from_pairs


class Secret(Handler):
    type = "aws:secretsmanager/secret:Secret"
    service = "secretsmanager"
    unkept = ("recoveryWindowInDays", "forceOverwriteReplicaSecret")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        key = {"KmsKeyId": inputs["kmsKeyId"]} if inputs.get("kmsKeyId") else {}
        made = self.client(cloud).create_secret(
            Name=inputs["name"],
            Description=inputs.get("description") or "",
            Tags=as_pairs(inputs.get("tagsAll")),
            **key,
        )
        return str(made["ARN"])

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        key = {"KmsKeyId": inputs["kmsKeyId"]} if inputs.get("kmsKeyId") else {}
        self.client(cloud).update_secret(SecretId=name, Description=inputs.get("description") or "", **key)

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        if remove:
            self.client(cloud).untag_resource(SecretId=name, TagKeys=remove)
        self.client(cloud).tag_resource(SecretId=name, Tags=as_pairs(tags))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        found = cloud.found(self.client(cloud).describe_secret, SecretId=name)
        if found is None or found.get("DeletedDate"):
            return None
        return {
            "arn": found["ARN"],
            "name": found["Name"],
            "description": found.get("Description", ""),
            "kmsKeyId": found.get("KmsKeyId", ""),
            "tagsAll": from_pairs(found.get("Tags")),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        days = state.get("recoveryWindowInDays")
        how: dict[str, Any] = {"ForceDeleteWithoutRecovery": True}
        if days:
            how = {"RecoveryWindowInDays": int(days)}
        cloud.until_free(self.client(cloud).delete_secret, SecretId=name, **how)


class LogGroup(Handler):
    type = "aws:cloudwatch/logGroup:LogGroup"
    service = "logs"
    unkept = ("skipDestroy", "logGroupClass", "deletionProtectionEnabled")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        key = {"kmsKeyId": inputs["kmsKeyId"]} if inputs.get("kmsKeyId") else {}
        self.client(cloud).create_log_group(logGroupName=inputs["name"], tags=inputs.get("tagsAll") or {}, **key)
        return str(inputs["name"])

    def finish(self, cloud: Cloud, name: str, inputs: Properties) -> None:
        self.update(cloud, name, {}, inputs, frozenset({"retentionInDays"}))

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        client = self.client(cloud)
        if "retentionInDays" in changed:
            if inputs.get("retentionInDays"):
                client.put_retention_policy(logGroupName=name, retentionInDays=int(inputs["retentionInDays"]))
            elif state.get("retentionInDays"):
                client.delete_retention_policy(logGroupName=name)
        if "kmsKeyId" in changed and inputs.get("kmsKeyId"):
            client.associate_kms_key(logGroupName=name, kmsKeyId=inputs["kmsKeyId"])

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.untag_log_group(logGroupName=name, tags=remove)
        client.tag_log_group(logGroupName=name, tags=tags)

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        listed = client.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
        found = next((group for group in listed if group["logGroupName"] == name), None)
        if found is None:
            return None
        return {
            "arn": found["arn"].removesuffix(":*"),
            "name": name,
            "retentionInDays": found.get("retentionInDays", 0),
            "kmsKeyId": found.get("kmsKeyId", ""),
            "tagsAll": client.list_tags_log_group(logGroupName=name).get("tags", {}),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_log_group, logGroupName=name)


class Certificate(Handler):
    type = "aws:acm/certificate:Certificate"
    service = "acm"
    unkept = ("keyAlgorithm", "options", "validationMethod")

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        others = (
            {"SubjectAlternativeNames": inputs["subjectAlternativeNames"]}
            if inputs.get("subjectAlternativeNames")
            else {}
        )
        made = self.client(cloud).request_certificate(
            DomainName=inputs["domainName"], ValidationMethod=inputs.get("validationMethod") or "DNS", **others
        )["CertificateArn"]
        if inputs.get("tagsAll"):
            self.client(cloud).add_tags_to_certificate(CertificateArn=made, Tags=as_pairs(inputs["tagsAll"]))
        return str(made)

    def replaces(self, state: Properties, inputs: Properties, paths: frozenset[str]) -> dict[str, bool]:
        return dict.fromkeys(("domainName", "subjectAlternativeNames"), state.get("type") != "IMPORTED")

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        client = self.client(cloud)
        if remove:
            client.remove_tags_from_certificate(CertificateArn=name, Tags=[{"Key": key} for key in remove])
        client.add_tags_to_certificate(CertificateArn=name, Tags=as_pairs(tags))

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        client = self.client(cloud)
        answer = cloud.found(client.describe_certificate, CertificateArn=name)
        if answer is None:
            return None
        found = answer["Certificate"]
        options = [
            {
                "domainName": option["DomainName"],
                "resourceRecordName": option["ResourceRecord"]["Name"],
                "resourceRecordType": option["ResourceRecord"]["Type"],
                "resourceRecordValue": option["ResourceRecord"]["Value"],
            }
            for option in found.get("DomainValidationOptions", ())
            if "ResourceRecord" in option
        ]
        others = [other for other in found.get("SubjectAlternativeNames", ()) if other != found["DomainName"]]
        return {
            "arn": name,
            "domainName": found["DomainName"],
            "subjectAlternativeNames": others or known.get("subjectAlternativeNames") or [],
            "domainValidationOptions": options,
            # moto moves it to ISSUED by itself after a while: no difference that anybody made.
            "type": found.get("Type", "AMAZON_ISSUED"),
            "tagsAll": from_pairs(client.list_tags_for_certificate(CertificateArn=name)["Tags"]),
        }

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        cloud.until_free(self.client(cloud).delete_certificate, CertificateArn=name)


class CertificateValidation(Handler):
    """Waits for nothing here: moto's certificates are never validated by anybody."""

    type = "aws:acm/certificateValidation:CertificateValidation"
    service = "acm"
    simulated = "nobody validates certificates here"

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        return str(inputs["certificateArn"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        arn = known.get("certificateArn") or name
        if cloud.found(self.client(cloud).describe_certificate, CertificateArn=arn) is None:
            return None
        return {"certificateArn": arn}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        return None


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
        zone, record, kind = (
            name.split("_", 2)
            if not name.split("_", 1)[1].startswith("_")
            else (
                name.split("_", 1)[0],
                name.split("_", 1)[1].rpartition("_")[0],
                name.rpartition("_")[2],
            )
        )
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


class Budget(Handler):
    type = "aws:budgets/budget:Budget"
    service = "budgets"
    unkept = ("tagsAll", "notifications", "costFilters")

    def _budget(self, inputs: Properties) -> dict[str, Any]:
        filters = {f["name"]: f["values"] for f in inputs.get("costFilters") or ()}
        return {
            "BudgetName": inputs["name"],
            "BudgetType": inputs["budgetType"],
            "TimeUnit": inputs["timeUnit"],
            "BudgetLimit": {"Amount": str(inputs["limitAmount"]), "Unit": inputs["limitUnit"]},
            "CostFilters": filters,
        }

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        notifications = [
            {
                "Notification": {
                    "NotificationType": n["notificationType"],
                    "ComparisonOperator": n["comparisonOperator"],
                    "Threshold": float(n["threshold"]),
                    "ThresholdType": n["thresholdType"],
                },
                "Subscribers": [
                    {"SubscriptionType": "EMAIL", "Address": address}
                    for address in n.get("subscriberEmailAddresses") or ()
                ],
            }
            for n in inputs.get("notifications") or ()
        ]
        self.client(cloud).create_budget(
            AccountId=cloud.account, Budget=self._budget(inputs), NotificationsWithSubscribers=notifications
        )
        return f"{cloud.account}:{inputs['name']}"

    def set_tags(self, cloud: Cloud, name: str, state: Properties, remove: list[str], tags: dict[str, str]) -> None:
        """moto keeps no tags of budgets."""

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        budget = name.partition(":")[2]
        answer = cloud.found(self.client(cloud).describe_budget, AccountId=cloud.account, BudgetName=budget)
        if answer is None:
            return None
        found = answer["Budget"]
        return {
            "name": budget,
            "accountId": cloud.account,
            "arn": cloud.arn("budgets", f"budget/{budget}", regional=False),
            "budgetType": found["BudgetType"],
            "limitAmount": found.get("BudgetLimit", {}).get("Amount", ""),
            "limitUnit": found.get("BudgetLimit", {}).get("Unit", ""),
            "timeUnit": found["TimeUnit"],
        }

    def update(self, cloud: Cloud, name: str, state: Properties, inputs: Properties, changed: frozenset[str]) -> None:
        self.delete(cloud, name, state)
        self.create(cloud, inputs)

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        budget = name.partition(":")[2]
        cloud.until_free(self.client(cloud).delete_budget, AccountId=cloud.account, BudgetName=budget)
