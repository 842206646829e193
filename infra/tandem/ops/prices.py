"""Reads on-demand prices from the AWS Price List API into the facts' table. Prices are read, nothing is bought."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from tandem.errors import CloudUnavailable
from tandem.facts import prices
from tandem.facts.instances import instances
from tandem.facts.tables import document

PRICING_REGION = "us-east-1"
"""One of the three Regions in which the API has an endpoint."""
TABLE = Path(prices.__file__).parent / "data" / "instance_prices.json"

Products = Callable[[str, str], Iterable[str]]
"""(instance type, Region) -> the API's price list, one JSON text a product."""


def refresh(region: str, products: Products | None = None) -> dict[str, Any]:
    """The table anew, with today's date; a type that is not sold on demand has no price.

    Raises `CloudUnavailable` where the API cannot be asked; the table then stays as it is.
    """
    ask = products or _ask
    rows = []
    for name in instances():
        try:
            found = [price for text in ask(name, region) for price in on_demand(json.loads(text))]
        except (BotoCoreError, ClientError) as error:
            message = (
                f"facts refresh: {region} - the Price List API cannot be asked: {error}. Give credentials that may call "
                f"pricing:GetProducts, or keep the table of {prices.date()}."
            )
            raise CloudUnavailable(message) from error
        rows.append({"type": name, "usd_per_hour": min(found, default=None)})
    if all(row["usd_per_hour"] is None for row in rows):
        message = (
            f"facts refresh: {region} - the Price List API names no price of any type. Check the name of the Region."
        )
        raise CloudUnavailable(message)
    source = f"AWS Price List API, AmazonEC2, {region}, Linux, shared tenancy, on demand"
    return {**document("instance_prices"), "date": _today(), "region": region, "sources": [source], "prices": rows}


def write(table: Mapping[str, Any], path: Path = TABLE) -> None:
    """Puts the table in its place, one row a line."""
    head = json.dumps({key: value for key, value in table.items() if key != "prices"}, indent=2)[:-2]
    rows = ",\n    ".join(json.dumps(row) for row in table["prices"])
    path.write_text(f'{head},\n  "prices": [\n    {rows}\n  ]\n}}\n', encoding="utf-8")


def on_demand(product: Mapping[str, Any]) -> list[float]:
    """US dollars per hour in one product of the price list; zero is a placeholder and left out."""
    terms = product.get("terms", {}).get("OnDemand", {}).values()
    units = [unit for term in terms for unit in term.get("priceDimensions", {}).values()]
    found = [float(unit["pricePerUnit"]["USD"]) for unit in units if "USD" in unit.get("pricePerUnit", {})]
    return [price for price in found if price > 0]


def _today() -> str:
    return date.today().isoformat()


def _ask(instance_type: str, region: str) -> Iterable[str]:
    wanted = {
        "instanceType": instance_type,
        "regionCode": region,
        "operatingSystem": "Linux",
        "tenancy": "Shared",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
    }
    client = boto3.client("pricing", region_name=PRICING_REGION)
    filters: Any = [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]
    answer = client.get_products(ServiceCode="AmazonEC2", Filters=filters)
    return [str(text) for text in answer["PriceList"]]
