"""Prices are read from the Price List API's own form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from botocore.exceptions import NoCredentialsError
from tandem.errors import CloudUnavailable
from tandem.facts.instances import instances
from tandem.ops import prices


def product(usd: str) -> str:
    dimension = {"unit": "Hrs", "pricePerUnit": {"USD": usd}}
    return json.dumps({"product": {}, "terms": {"OnDemand": {"A.B": {"priceDimensions": {"A.B.C": dimension}}}}})


def test_a_refreshed_table_has_every_type_its_price_and_the_region(tmp_path: Path) -> None:
    table = prices.refresh(
        "eu-west-1", lambda name, _: [product("0.0000000000"), product("7.5")] if name.startswith("p5") else []
    )
    prices.write(table, tmp_path / "t.json")
    read = json.loads((tmp_path / "t.json").read_text())
    found = {row["type"]: row["usd_per_hour"] for row in read["prices"]}
    assert set(found) == set(instances()) and read["region"] == "eu-west-1"
    assert found["p5.48xlarge"] == 7.5 and found["g6e.xlarge"] is None


def test_an_api_that_cannot_be_asked_is_refused_with_the_way_out() -> None:
    def none(name: str, region: str) -> list[str]:
        raise NoCredentialsError

    with pytest.raises(
        CloudUnavailable, match=r"facts refresh: us-east-1 - the Price List API cannot be asked.*keep the table of 2026"
    ):
        prices.refresh("us-east-1", none)


def test_a_region_without_prices_is_named() -> None:
    with pytest.raises(CloudUnavailable, match=r"mars-1 - .* Check the name of the Region"):
        prices.refresh("mars-1", lambda name, region: [])
