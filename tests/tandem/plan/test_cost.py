"""What a site costs by the hour."""

from __future__ import annotations

import pytest
from tandem.config.load import parse_stack
from tandem.plan.cost import site_cost

from tests.tandem.stacks import data, load, names

SITE = {name: load(name) for name in names("dev")}


def test_the_sum_is_that_of_its_parts_and_nodes_are_most_of_it() -> None:
    report = site_cost(SITE)
    assert report.usd_per_hour == pytest.approx(sum(part.usd_per_hour for part in report.parts), abs=1e-4)
    nodes = {part.name: part.usd_per_hour for part in report.parts if "xlarge" in part.name}
    assert nodes == pytest.approx(
        {"g6e.12xlarge (compute)": 10.49264, "g7e.24xlarge (bandwidth)": 16.57216, "m7i.2xlarge (system)": 2 * 0.4032}
    )


def test_twice_the_nodes_cost_twice_as_much() -> None:
    described = data("dev-cluster")
    before = site_cost({"dev-cluster": parse_stack(described, "test")})
    for group in described["node_groups"].values():
        group["nodes"] *= 2
        group["nodes_max"] *= 2
    after = site_cost({"dev-cluster": parse_stack(described, "test")})
    control_plane = next(part.usd_per_hour for part in before.parts if part.name == "EKS cluster")
    assert after.usd_per_hour == pytest.approx(2 * before.usd_per_hour - control_plane, abs=1e-3)


def test_a_type_that_is_not_sold_on_demand_is_named_and_not_guessed() -> None:
    described = data("dev-cluster")
    described["node_groups"]["bandwidth"]["instance_type"] = "p5e.48xlarge"
    report = site_cost({"dev-cluster": parse_stack(described, "test")})
    assert report.unknown == ("1 x p5e.48xlarge (bandwidth)",)
    assert "no on-demand price: 1 x p5e.48xlarge" in report.as_line()


def test_a_region_without_prices_of_its_own_is_said() -> None:
    described = data("dev-registry")
    described["site"]["region"] = "eu-west-1"
    assert "eu-west-1 differs" in site_cost({"x": parse_stack(described, "test")}).as_line()


def test_the_line_is_one_line_and_dated() -> None:
    line = site_cost(SITE).as_line()
    assert "\n" not in line
    assert "2026-07-20" in line
