"""The edge's certificate."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

RECORD_SECONDS = 60
"""How long others keep the record: short, since it is looked up once."""


class Certificate(pulumi.ComponentResource):
    """A certificate that AWS issues once a DNS record proves the domain, and renews for as long as the record stays.

    Creates: certificate; with a hosted zone also the record; the wait until it is issued.
    Cost: none.
    Replaced by: the domain.
    """

    arn: pulumi.Output[str]
    """Of the issued certificate: whoever uses it waits."""

    def __init__(
        self, name: str, *, domain: str, hosted_zone_id: str | None, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Without a hosted zone somebody else makes the record, while the wait goes on."""
        super().__init__("tandem:edge:Certificate", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        certificate = aws.acm.Certificate(name, domain_name=domain, validation_method="DNS", opts=child)
        records = []
        if hosted_zone_id is not None:
            option = certificate.domain_validation_options[0]
            record = aws.route53.Record(
                f"{name}-proof",
                zone_id=hosted_zone_id,
                name=option.resource_record_name,
                type=option.resource_record_type,
                records=[option.resource_record_value],
                ttl=RECORD_SECONDS,
                allow_overwrite=True,
                opts=child,
            )
            records.append(record.fqdn)
        issued = aws.acm.CertificateValidation(
            f"{name}-issued",
            certificate_arn=certificate.arn,
            validation_record_fqdns=records or None,
            opts=child,
        )
        self.arn = issued.certificate_arn
        self.register_outputs({"arn": self.arn})
