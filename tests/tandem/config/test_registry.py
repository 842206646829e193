"""What a registry stack's file may say."""

from __future__ import annotations

from tests.tandem.stacks import data, only_fault


def test_an_image_is_named_once() -> None:
    registry = data("dev-registry")
    registry["images"] = ["gateway", "sglang", "gateway"]
    assert only_fault(registry).where.endswith("images[2]")


def test_a_budget_without_anybody_to_tell_is_refused() -> None:
    registry = data("dev-registry")
    registry["budget"]["emails"] = []
    assert only_fault(registry).where.endswith("budget.emails")


def test_a_registry_reads_no_other_stack() -> None:
    registry = data("dev-registry")
    registry["uses"] = {"network": "dev-network"}
    assert only_fault(registry).fix == "Remove it"
