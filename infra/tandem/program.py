"""Wires one stack: configuration -> plan -> components -> outputs. Nothing is decided here."""

from __future__ import annotations

import importlib

import pulumi

from tandem.config.load import parse_stack
from tandem.errors import TandemError


def run() -> None:
    """Builds the stack that the engine asks for. Its kind names the module under `tandem.programs` that composes it."""
    where = f"stacks/Pulumi.{pulumi.get_stack()}.yaml"
    try:
        stack = parse_stack(pulumi.Config("tandem").require_object("stack"), where)
        importlib.import_module(f"tandem.programs.{stack.kind}").build(stack)
    except TandemError as error:
        pulumi.log.error(str(error))
        raise SystemExit(error.exit_code) from error
