"""The tables agree with one another."""

from __future__ import annotations

import pytest
from tandem.facts import efa, prices
from tandem.facts.accelerators import accelerators
from tandem.facts.instances import instances
from tandem.facts.regions import regions
from tandem.facts.tables import document

TABLES = ("accelerators", "instances", "efa", "instance_prices", "service_prices", "regions")


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_dated_and_names_its_sources(name: str) -> None:
    table = document(name)
    assert table["date"] and all(table["sources"])


def test_every_type_with_efa_has_a_layout_of_as_many_devices() -> None:
    for name, instance in instances().items():
        layout = efa.layouts().get(name)
        assert (layout.devices if layout else 0) == instance.efa_interfaces, name


def test_a_layout_has_a_card_for_each_device() -> None:
    for layout in efa.layouts().values():
        assert layout.devices == layout.network_cards - (not layout.first_card_has_device), layout.type


def test_no_efa_device_promises_more_than_its_node_has() -> None:
    for name, layout in efa.layouts().items():
        assert layout.devices * layout.gbps_per_device <= instances()[name].network_gbps * 1.01, name


def test_every_type_has_a_price_or_is_known_to_have_none() -> None:
    priced = {row["type"] for row in document("instance_prices")["prices"]}
    assert priced == set(instances())
    assert [name for name in instances() if prices.instance_usd_per_hour(name) is None] == ["p5e.48xlarge"]


def test_a_larger_type_of_a_family_never_costs_less_a_gpu_than_nothing() -> None:
    for name, instance in instances().items():
        price = prices.instance_usd_per_hour(name)
        assert price is None or price > 0, f"{name} of {instance.gpus} GPUs has a price"


def test_every_accelerator_is_one_that_some_type_has() -> None:
    used = {instance.accelerator.name for instance in instances().values() if instance.accelerator}
    assert used == set(accelerators())


def test_efa_of_p4_reaches_p4_only() -> None:
    assert efa.compatible("p4d.24xlarge", "p4de.24xlarge")
    assert efa.compatible("p5.48xlarge", "p5en.48xlarge")
    assert not efa.compatible("p4de.24xlarge", "p5.48xlarge")
    assert not efa.compatible("p5.48xlarge", "g6e.xlarge"), "the second has no device"


def test_a_zone_id_belongs_to_one_region() -> None:
    zones = ("use1-az4", "usw2-az1", "apne1-az4")
    owners = [[name for name, region in regions().items() if region.has_zone(zone)] for zone in zones]
    assert owners == [["us-east-1"], ["us-west-2"], ["ap-northeast-1"]]
