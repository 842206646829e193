"""Whether the edge gets its certificate: an existing one that fits, or a zone in which the domain can be proved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from tandem.config.edge import EdgeStack, ExistingCertificate
from tandem.config.stack import Stack
from tandem.ops.preflight.account import CertificateState, ZoneState
from tandem.ops.preflight.answers import Answer, Check, fails, judged, ok, unchecked

CERTIFICATE_LEFT: Final = timedelta(days=30)
"""ACM renews its own certificates 60 days ahead: one with less has not been renewed."""


def checks(stacks: Mapping[str, Stack], now: datetime) -> Iterator[Check]:
    """One an edge for its certificate, one for its hosted zone."""
    for name, stack in stacks.items():
        if not isinstance(stack, EdgeStack):
            continue
        domain, region, certificate, zone = stack.domain, stack.site.region, stack.certificate, stack.hosted_zone
        if isinstance(certificate, ExistingCertificate):
            arn = certificate.arn
            yield Check(
                f"{name}: certificate of {domain}",
                lambda account, region=region, arn=arn, domain=domain: judged(  # type: ignore[misc]
                    account.certificate(region, arn), lambda found: judge_certificate(found, domain, now)
                ),
            )
        elif zone is None:
            yield Check(
                f"{name}: certificate of {domain}",
                lambda _: unchecked("no hosted_zone is named: somebody else must prove that the domain is ours"),
            )
        if zone is not None:
            zone_id = zone.zone_id
            yield Check(
                f"{name}: certificate and record of {domain} in zone {zone_id}",
                lambda account, zone_id=zone_id, domain=domain: judged(  # type: ignore[misc]
                    account.hosted_zone(zone_id), lambda found: judge_zone(found, domain)
                ),
            )


def judge_certificate(found: CertificateState | None, domain: str, now: datetime) -> Answer:
    """Issued, for the domain, and not about to end."""
    if found is None:
        return fails("ACM has no such certificate", "Correct the ARN, or leave `certificate` out: AWS then issues one")
    if found.status != "ISSUED":
        return fails(f"its status is {found.status}", "Prove the domain, or name another certificate")
    wildcard = f"*.{domain.partition('.')[2]}"
    if not {domain, wildcard} & set(found.names):
        return fails(f"it is for {', '.join(found.names)}", f"Name a certificate for {domain}")
    ends = found.expires
    if ends is not None and ends.replace(tzinfo=ends.tzinfo or UTC) - now < CERTIFICATE_LEFT:
        return fails(f"it ends on {ends:%Y-%m-%d}", "Renew it")
    return ok(f"issued for {', '.join(found.names)}")


def judge_zone(found: ZoneState | None, domain: str) -> Answer:
    """Public, and holds the domain."""
    if found is None:
        return fails("the account has no such zone", "Name the id of the zone that holds the domain")
    if found.private:
        return fails(f"{found.domain} is a private zone: nobody outside sees its records", "Name the public one")
    if domain != found.domain and not domain.endswith(f".{found.domain}"):
        return fails(f"the zone is {found.domain}", f"Name the zone that holds {domain}")
    return ok(f"{found.domain} holds it; whether the world asks this zone was not looked at")
