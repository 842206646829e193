"""Hosted zones that stand in the account from its beginning: stacks name them by id, and no stack makes them."""

from __future__ import annotations

from collections.abc import Mapping


def install(account: str, zones: Mapping[str, str]) -> None:
    """Make moto's Route 53 hold a public zone for each id -> domain. Run at every start, before the journal is replayed."""
    from moto.route53.models import route53_backends

    backend = route53_backends[account]["aws"]
    for zone_id, domain in zones.items():
        made = backend.create_hosted_zone(f"{domain.rstrip('.')}.", private_zone=False)
        del backend.zones[made.resource_id]
        made.resource_id = zone_id
        backend.zones[zone_id] = made
