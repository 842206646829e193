"""The `edge` stack as a person writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from tandem import limits
from tandem.config.base import Colour, StackBase, Strict
from tandem.config.patterns import shaped
from tandem.errors import Fault
from tandem.units import Days, Seconds


class IssuedCertificate(Strict):
    """AWS issues it for `domain` and renews it; a DNS record proves that the domain is ours."""

    kind: Literal["issued"] = "issued"


class ExistingCertificate(Strict):
    """One that is in ACM already."""

    kind: Literal["existing"]
    arn: Annotated[
        str,
        shaped(
            r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/.+",
            "must be the ARN of an ACM certificate",
            "arn:aws:acm:us-east-1:123456789012:certificate/0a1b",
        ),
    ]


class HostedZone(Strict):
    """A public Route 53 zone of the account that holds `domain`."""

    zone_id: Annotated[str, shaped(r"[A-Z0-9]{10,32}", "must be the id of a Route 53 zone", "Z0123456789ABCDEFGHIJ")]


class Firewall(Strict):
    """AWS WAF in front of the load balancer. Prompts are not inspected: they contain code, and WAF reads only 8 KB."""

    requests_per_client: Annotated[int, Field(ge=10)]
    """Requests that one address may make in five minutes; more are refused with 403."""


class AccessLogs(Strict):
    """One line a request, written to a bucket of the stack."""

    retention: Days = 30
    """Days until they are deleted."""


class EdgeStack(StackBase):
    """The load balancer that clients reach, and one target group a colour behind it."""

    kind: Literal["edge"]
    domain: Annotated[
        str,
        Field(max_length=253),
        shaped(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "must be a DNS name, in lower case", "llm.example.com"),
    ]
    """The name that clients use and that the certificate is for."""
    certificate: Annotated[IssuedCertificate | ExistingCertificate, Field(discriminator="kind")] = IssuedCertificate()
    hosted_zone: HostedZone | None = None
    """None: somebody else points the domain at the load balancer, and proves the certificate's domain."""
    paths: Annotated[tuple[str, ...], Field(min_length=1, max_length=limits.LISTENER_RULE_VALUES_MAX)] = (
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/models",
    )
    """What reaches the gateways; everything else is answered 404 here."""
    live: Colour = Colour.BLUE
    """The colour that gets all traffic when the stack is first made. Afterwards the rollout owns the weights."""
    idle_timeout: Annotated[Seconds, Field(le=limits.LOAD_BALANCER_IDLE_MAX)] = limits.LOAD_BALANCER_IDLE_DEFAULT
    """Longest silence on a stream in seconds, before it is cut."""
    firewall: Firewall | None = None
    """None: no WAF."""
    access_logs: AccessLogs | None = None
    """None: no access logs."""
    deletion_protection: bool = True
    """True: the load balancer cannot be deleted, also not by `down`."""
    disposable: bool = False
    """True: `down` also deletes the access logs."""

    @field_validator("paths")
    @classmethod
    def _inference_only(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for path in value:
            if not path.startswith("/v1/"):
                rule = f"{path} is not part of the inference API; the gateway's other paths administer it"
                raise ValueError(f"{rule} | Name paths that begin with /v1/")
        if len(set(value)) < len(value):
            raise ValueError("a path stands in the list twice | Remove one")
        return value

    def faults(self, at: str) -> Iterator[Fault]:
        """What the fields contradict between one another; `at` names the stack in messages."""
        certificate = self.certificate
        if isinstance(certificate, ExistingCertificate):
            _, _, _, region, account, _ = certificate.arn.split(":", 5)
            if (region, account) != (self.site.region, self.account_id):
                rule = f"a load balancer takes certificates of its own region and account, {self.site.region} only"
                yield Fault(f"{at}.certificate.arn", certificate.arn, rule, "Name one of the site's region and account")
