"""Names and their budgets."""

from __future__ import annotations

import pytest
from tandem.config.load import parse_stack
from tandem.errors import PlanError
from tandem.plan import names
from tandem.plan.registry import plan_registry

from tests.tandem.stacks import data, load


def test_a_name_over_its_budget_says_by_how_much() -> None:
    described = data("dev-registry")
    described["environment"] = "a-rather-long-name-here"
    described["site"]["name"] = "another-long-name"
    stack = parse_stack(described, "test")
    with pytest.raises(PlanError, match=r"Shorten environment or site\.name by 6 characters"):
        plan_registry(stack)  # type: ignore[arg-type]


def test_a_repositorys_last_part_is_the_images_name() -> None:
    assert names.repository(load("local-registry"), "engine-sim").rsplit("/", 1)[-1] == "engine-sim"


def test_two_environments_of_one_account_share_no_name() -> None:
    local, dev = load("local-registry"), load("dev-registry")
    for name in (names.weights_bucket, names.cluster, names.api_keys_secret):
        assert name(local) != name(dev)
