"""Command `tandem-toolchain`: obtains the toolchain and says what there is."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from tandem.errors import MissingTool, TandemError

from toolchain import build, debian, paths, pins


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit with its code: 0 done, 1 build failed, 3 something of this machine is missing."""
    parser = argparse.ArgumentParser(prog="tandem-toolchain", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("build", help="obtain all that is missing; resumable; waits for another build")
    make.add_argument("--no-packages", action="store_true", help="leave the operating system's packages alone")
    commands.add_parser("packages", help="install the operating system's packages that are missing, or name them")
    status = commands.add_parser("status", help="say what there is and what is missing; builds nothing")
    status.add_argument("--json", action="store_true", help="for programs")
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        sys.exit(_run(chosen))
    except TandemError as error:
        print(f"tandem-toolchain: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("tandem-toolchain: interrupted - run the same command: it goes on where it stopped.", file=sys.stderr)
        sys.exit(130)


def _run(chosen: argparse.Namespace) -> int:
    if chosen.command == "status":
        return _status(as_json=chosen.json)
    if chosen.command == "packages":
        debian.ensure(_say)
        return 0
    return _build(packages=not chosen.no_packages)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _say(line: str) -> None:
    print(f"toolchain: {line}", flush=True)


def _build(*, packages: bool) -> int:
    """Packages come first because they are quick. Without them only the local cloud is stopped, so building goes on."""
    lacking: MissingTool | None = None
    if packages:
        try:
            debian.ensure(_say)
        except MissingTool as error:
            lacking = error
    toolchain = build.ensure(_say)
    if lacking:
        raise lacking
    _say(f"complete: {toolchain.root}")
    return 0


def _status(*, as_json: bool) -> int:
    """Exit code 0 when nothing is missing, else 3."""
    toolchain = paths.current()
    to_compile = build.missing_parts()
    packages = debian.missing()
    if as_json:
        report = {
            "complete": toolchain.complete,
            "key": toolchain.key,
            "root": str(toolchain.root),
            "bin": str(toolchain.bin),
            "home": str(toolchain.home),
            "versions": toolchain.versions,
            "missing": list(toolchain.missing),
            "to_compile": [part.name for part in to_compile],
            "missing_packages": [need.package for need in packages],
        }
        print(json.dumps(report, indent=2))
    else:
        print(f"toolchain {toolchain.key}: {'complete' if toolchain.complete else 'not complete'}, {toolchain.root}")
        for name, version in toolchain.versions.items():
            print(f"  {name} {version}")
        for path in toolchain.missing:
            print(f"  missing: {path}")
        if not toolchain.complete:
            minutes = sum(part.minutes_cold for part in to_compile)
            cost = (
                f"compiles {len(to_compile)} of {len(pins.parts())} binaries, up to {minutes:.0f} min"
                if to_compile
                else "takes seconds"
            )
            print(f"  run: {paths.BUILD_COMMAND} ({cost})")
        if packages:
            print(f"  missing packages; run, as root: {debian.command(packages)}")
    return 0 if toolchain.complete and not packages else 3


if __name__ == "__main__":
    main()
