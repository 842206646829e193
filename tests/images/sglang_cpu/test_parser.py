"""Every engine command line that our stack files render is one that the real SGLang of the pinned release takes, as it is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tandem.config.base import Role
from tandem.config.serving import ServingStack
from tandem.facts import engine_flags
from tandem.plan.environment import serving_site
from tandem.plan.serving import plan_serving

from tests.tandem.stacks import load, names

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

Parser = Callable[[list[list[str]]], dict[str, Any]]


def command_lines() -> dict[str, list[str]]:
    """Of every role of every colour of every serving stack of the checkout."""
    stacks = {name: load(name) for name in names()}
    lines = {}
    for name, stack in stacks.items():
        if isinstance(stack, ServingStack):
            plan = plan_serving(stack, serving_site(stack, stacks), name)
            for colour, triple in plan.triples.items():
                for role, worker in triple.workers.items():
                    lines[f"{name} {colour} {role}"] = list(worker.arguments)
    return lines


def test_the_real_parser_takes_every_rendered_command_line(real_parser: Parser) -> None:
    lines = command_lines()
    assert {name.split()[-1] for name in lines} == {role.value for role in Role}
    parsed = dict(zip(lines, real_parser(list(lines.values()))["parsed"], strict=True))
    assert {name: values["error"] for name, values in parsed.items() if "error" in values} == {}
    for name, values in parsed.items():
        assert values["disaggregation_mode"] == name.split()[-1], f"{name}: the role that was meant"
    for stack in {name.rpartition(" ")[0] for name in lines}:
        prefill, decode = (parsed[f"{stack} {role}"] for role in ("prefill", "decode"))
        for field in ("dtype", "kv_cache_dtype", "page_size", "context_length", "disaggregation_transfer_backend"):
            assert prefill[field] == decode[field], f"{stack}: both roles must agree on {field}"


def test_the_real_parser_refuses_what_our_table_refuses(real_parser: Parser) -> None:
    base = ["--model-path", "/x"]
    wrong = [
        [*base, "--no-such-flag"],
        [*base, "--kv-cache-dtype", "fp7"],
        [*base, "--page-size", "many"],
        [*base, "--quantization", "w4a8"],
    ]
    for line, values in zip(wrong, real_parser(wrong)["parsed"], strict=True):
        assert "error" in values, f"{line}: the real parser takes it"
        assert engine_flags.check(line), f"{line}: our table takes it"


def test_the_table_of_flags_is_the_real_parsers(real_parser: Parser) -> None:
    real = set(real_parser([])["flags"]) - {"-h", "--help"}
    ours = set(engine_flags.table().by_name())
    assert ours == real
