"""Whether reservations and Capacity Blocks are there, active, large enough, and in the zone of the nodes that they are for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tandem.config.stack import Stack
from tandem.ops.preflight.account import ReservationState
from tandem.ops.preflight.answers import Answer, Check, fails, judged, ok
from tandem.ops.preflight.groups import clusters
from tandem.plan.node_groups import NodeGroupPlan


def checks(stacks: Mapping[str, Stack]) -> Iterator[Check]:
    """One a node group that names a reservation."""
    for name, stack, plan in clusters(stacks):
        for group in plan.node_groups:
            if group.reservation_id is not None:
                region, reservation_id = stack.site.region, group.reservation_id
                yield Check(
                    f"{name}: {reservation_id} of {group.name}",
                    lambda account, region=region, reservation_id=reservation_id, group=group: judged(  # type: ignore[misc]
                        account.reservation(region, reservation_id), lambda found: judge_reservation(found, group)
                    ),
                )


def judge_reservation(found: ReservationState | None, group: NodeGroupPlan) -> Answer:
    """Every way in which it does not fit, at once."""
    if found is None:
        return fails("the account has no such reservation in the region", "Correct the id, or the site's region")
    block = group.capacity_type == "CAPACITY_BLOCK"
    wrong = [
        told
        for wrong, told in (
            (found.state != "active", f"its state is {found.state}, not active"),
            (found.zone_id not in group.zone_ids, f"it is in {found.zone_id}, the nodes are in {group.zone_ids[0]}"),
            (found.instance_type != group.instance.type, f"it is for {found.instance_type}"),
            (found.instances < group.nodes_max, f"it has {found.instances} instances, nodes_max is {group.nodes_max}"),
            (found.block != block, f"it is {'a' if found.block else 'no'} Capacity Block, the file says otherwise"),
        )
        if wrong
    ]
    if wrong:
        return fails("; ".join(wrong), "Name a reservation that fits, or change the node group")
    return ok(f"active, {found.instances} x {found.instance_type} in {found.zone_id}" + _end(found))


def _end(found: ReservationState) -> str:
    return f", until {found.ends:%Y-%m-%d %H:%M}" if found.ends else ""
