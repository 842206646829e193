"""The table of quantization schemes."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from tandem.facts import engine_flags
from tandem.facts.schemes import Support, families, schemes


def test_the_table_says_when_and_where_it_was_read() -> None:
    document = json.loads(resources.files("tandem.facts").joinpath("data/schemes.json").read_text(encoding="utf-8"))
    assert document["as_of"] and "sglang 0.5.23" in document["source"]
    columns = set(document["columns"])
    for row in document["schemes"]:
        assert set(row["cells"]) == columns, f"{row['name']} leaves a column open"


def test_every_literal_is_one_that_the_engine_takes() -> None:
    choices = engine_flags.flag("--quantization").choices
    for scheme in schemes().values():
        assert scheme.flag is None or scheme.flag in choices, scheme.name


def test_names_begin_with_their_family_and_families_with_their_bits() -> None:
    for scheme in schemes().values():
        assert scheme.name.startswith(scheme.family)
        if scheme.family != "bf16":
            assert scheme.family == f"w{scheme.weight_bits}a{scheme.activation_bits}"
    assert {"w8a8", "w4a8"} <= set(families())


@pytest.mark.parametrize(
    ("name", "capability", "support"),
    [
        ("w8a8-int8", 75, Support.NO),
        ("w8a8-int8", 80, Support.YES),
        ("w8a8-int8", 86, Support.YES),
        ("w8a8-int8", 100, Support.NO),
        ("w8a8-fp8-channel", 80, Support.DEGRADED),
        ("w8a8-fp8-channel", 89, Support.YES),
        ("w4a8-fp8-experts", 89, Support.NO),
        ("w4a8-fp8-experts", 90, Support.YES),
        ("w4a8-fp8-experts", 103, Support.UNPROVED),
        ("w4a8-humming", 80, Support.JIT),
        ("w4a16-compressed-tensors", 120, Support.UNPROVED),
        ("bf16", 120, Support.YES),
    ],
)
def test_an_accelerator_counts_for_the_newest_column_that_is_not_newer(
    name: str, capability: int, support: Support
) -> None:
    assert schemes()[name].on(capability) is support


def test_a_degraded_scheme_does_not_count_as_running() -> None:
    assert not schemes()["w8a8-fp8-channel"].runs(80, "dense")
    assert schemes()["w8a8-fp8-channel"].runs(89, "dense")
    assert not schemes()["w4a8-fp8-experts"].runs(90, "dense"), "it has kernels for experts only"
