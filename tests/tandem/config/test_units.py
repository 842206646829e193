"""Numbers that say what they count."""

from __future__ import annotations

import pytest

from tests.tandem.stacks import data, only_fault


@pytest.mark.parametrize("given", ["200GiB", "200", "0.2TiB"])
def test_a_number_with_a_unit_is_refused_with_the_unit_that_is_meant(given: str) -> None:
    cluster = data("dev-cluster")
    cluster["node_groups"]["compute"]["root_volume"] = given
    fault = only_fault(cluster)
    assert fault.where.endswith("node_groups.compute.root_volume")
    assert fault.fix == "Write the number of GiB, without unit and quotes"


def test_a_time_in_minutes_is_not_taken_for_seconds() -> None:
    edge = data("dev-edge")
    edge["idle_timeout"] = "5m"
    assert "seconds" in only_fault(edge).rule


def test_a_plain_number_is_accepted() -> None:
    edge = data("dev-edge")
    edge["idle_timeout"] = 0
    assert only_fault(edge).where.endswith("idle_timeout"), "nothing takes no time"
