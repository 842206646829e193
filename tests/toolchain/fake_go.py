"""A stand-in for the `go` command: fast, offline, and told to fail or to wait by files in its folder.

It answers exactly the calls that the build makes. `builds.log` records each `go build` by the module's folder name.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RELEASE = "go1.26.9"


def main() -> None:
    command, *arguments = sys.argv[1:]
    module = Path.cwd().name
    if command == "env":
        print((HERE / "release").read_text() if (HERE / "release").exists() else RELEASE)
        print(HERE / "modules", HERE / "cache", sep="\n")
    elif command == "list" and "-m" in arguments:
        print(HERE / "modules")
    elif command == "list":
        print("one\ntwo\nthree")
    elif command == "build":
        build(module, arguments)


def build(module: str, arguments: list[str]) -> None:
    with (HERE / "builds.log").open("a") as log:
        log.write(f"{module}\n")
    output = Path(arguments[arguments.index("-o") + 1])
    output.write_text("half")
    gate = HERE / f"gate-{module}"
    if gate.exists():  # a FIFO: opening it waits for the test, reading it for the test's leave
        gate.read_text()
    failure = HERE / f"fail-{module}"
    if failure.exists():
        print(failure.read_text(), file=sys.stderr)
        sys.exit(1)
    print("one", file=sys.stderr)
    size = int((HERE / "size").read_text()) if (HERE / "size").exists() else 0
    try:
        output.write_text(f"#!/bin/sh\necho {module}\n".ljust(size))
    except OSError as error:
        sys.exit(f"go: writing {output}: {error.strerror}")
    output.chmod(0o755)
    os.utime(output)


main()
