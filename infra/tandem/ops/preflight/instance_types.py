"""Whether the zones offer the instance types, with the EFA devices that their launch templates ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tandem.config.stack import Stack
from tandem.ops.preflight.answers import Answer, Check, fails, judged, ok
from tandem.ops.preflight.groups import clusters


def checks(stacks: Mapping[str, Stack]) -> Iterator[Check]:
    """Two a node group: its zones, and EFA where it has any."""
    for name, stack, plan in clusters(stacks):
        region = stack.site.region
        for group in plan.node_groups:
            kind, zones, devices = group.instance.type, group.zone_ids, group.efa_interfaces
            yield Check(
                f"{name}: {kind} is offered in {', '.join(zones)}",
                lambda account, region=region, kind=kind, zones=zones: judged(  # type: ignore[misc]
                    account.offerings(region, [kind]), lambda offers: judge_offering(offers, kind, zones)
                ),
                real_only=True,
            )
            if devices:
                yield Check(
                    f"{name}: {kind} has {devices} EFA devices",
                    lambda account, region=region, kind=kind, devices=devices: judged(  # type: ignore[misc]
                        account.efa_devices(region, kind), lambda found: judge_efa(found, kind, devices)
                    ),
                    real_only=True,
                )


def judge_offering(offers: frozenset[tuple[str, str]], kind: str, zones: tuple[str, ...]) -> Answer:
    """`offers` are pairs of type and AZ id."""
    missing = [zone for zone in zones if (kind, zone) not in offers]
    if not missing:
        return ok(f"all of {', '.join(zones)}")
    elsewhere = ", ".join(sorted(zone for offered, zone in offers if offered == kind))
    detail = f"not in {', '.join(missing)}; the region offers it in {elsewhere or 'no zone'}"
    return fails(
        detail, "Name one of those zones in the network stack, or another type" if elsewhere else "Name another type"
    )


def judge_efa(found: int, kind: str, devices: int) -> Answer:
    """`found` and `devices` are EFA devices of one node."""
    if found >= devices:
        return ok(f"{kind} can have {found}")
    return fails(
        f"{kind} can have {found}, the launch template asks for {devices}", "Set `efa: false`, or name another type"
    )
