"""ACM certificates."""

from __future__ import annotations

from local.aws.plugin.cloud import Cloud
from local.aws.plugin.handler import Handler, Properties
from local.aws.plugin.tags import as_pairs, from_pairs


class Certificate(Handler):
    type = "aws:acm/certificate:Certificate"
    service = "acm"
    tagged_at_creation = False

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        others = inputs.get("subjectAlternativeNames")
        made = self.client(cloud).request_certificate(
            DomainName=inputs["domainName"],
            ValidationMethod=inputs.get("validationMethod") or "DNS",
            **({"SubjectAlternativeNames": others} if others else {}),
        )
        return str(made["CertificateArn"])

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

    def create(self, cloud: Cloud, inputs: Properties) -> str:
        return str(inputs["certificateArn"])

    def read(self, cloud: Cloud, name: str, known: Properties) -> Properties | None:
        arn = known.get("certificateArn") or name
        if cloud.found(self.client(cloud).describe_certificate, CertificateArn=arn) is None:
            return None
        return {"certificateArn": arn, "__simulated": "nobody validates certificates here"}

    def delete(self, cloud: Cloud, name: str, state: Properties) -> None:
        return None
