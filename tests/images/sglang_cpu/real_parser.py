"""Runs in the environment of `images/sglang-cpu`: gives command lines to SGLang's own parser.

Reads a JSON list of argument lists from stdin. Prints `{"parsed": [{field: value} | {"error": text}], "flags": [...]}`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from typing import Any


def main() -> None:
    with contextlib.redirect_stdout(sys.stderr):
        from sglang.srt.server_args import ServerArgs, prepare_server_args

        given = json.load(sys.stdin)
        parsed = [parse(prepare_server_args, argv) for argv in given]
        parser = argparse.ArgumentParser()
        ServerArgs.add_cli_args(parser)
        flags = sorted({option for action in parser._actions for option in action.option_strings})
    json.dump({"parsed": parsed, "flags": flags}, sys.stdout, default=str)


def parse(prepare: Any, argv: list[str]) -> dict[str, Any]:
    """What the server would run with, or the parser's own complaint."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            arguments = prepare(argv)
    except SystemExit:
        return {"error": said.getvalue().strip().splitlines()[-1]}
    # Descriptors of its class: `vars` shows none of them.
    names = [name for name in dir(arguments) if not name.startswith("_")]
    return {name: value for name in names if not callable(value := getattr(arguments, name))}


if __name__ == "__main__":
    main()
