"""What a program's environment holds: provider plugins that its SDKs ask for, and its Python distributions."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from toolchain.language_host.environments import PythonEnvironment

# Runs in the program's interpreter. Like `pip list`, but needs no pip and takes a tenth of its time.
_LIST_DISTRIBUTIONS = """
import json, re, sys
from importlib.metadata import distributions
normal = lambda name: re.sub(r"[-_.]+", "-", name).lower()
found, needed = {}, set()
for distribution in distributions():
    found.setdefault(normal(distribution.metadata["Name"]), distribution.version)
    for requirement in distribution.requires or ():
        if "extra ==" not in requirement:
            needed.add(normal(re.match(r"[A-Za-z0-9._-]+", requirement).group()))
wanted = found if sys.argv[1] == "all" else {name: found[name] for name in found if name not in needed}
json.dump(sorted(wanted.items()), sys.stdout)
"""


@dataclass(frozen=True)
class RequiredPlugin:
    """A provider plugin that an installed SDK names in its pulumi-plugin.json."""

    name: str
    version: str
    server: str


def required_plugins(environment: PythonEnvironment) -> list[RequiredPlugin]:
    """Plugins that the SDKs of a virtual environment ask for. Reads files only, because every command waits for it."""
    if environment.folder is None:
        return []
    found = []
    for file in sorted(environment.folder.glob("lib/python*/site-packages/*/pulumi-plugin.json")):
        plugin = _read_plugin(file)
        if plugin is not None:
            found.append(plugin)
    return found


def _read_plugin(file: Path) -> RequiredPlugin | None:
    """None for an SDK without a provider of its own, or with a broken file (which its registration will report)."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or not content.get("resource") or not content.get("version"):
        return None
    name = content.get("name") or re.sub("^pulumi[-_]", "", file.parent.name)
    # A parameterized provider is found by its base plugin only when the program registers it.
    return (
        None
        if content.get("parameterization")
        else RequiredPlugin(name, content["version"], content.get("server") or "")
    )


def distributions(environment: PythonEnvironment, *, transitive: bool) -> Iterator[tuple[str, str]]:
    """Name and version of installed distributions; without `transitive` only those that no other one needs."""
    command = [environment.python(), "-I", "-c", _LIST_DISTRIBUTIONS, "all" if transitive else "top"]
    done = subprocess.run(command, env=environment.environment(), capture_output=True, text=True, check=True)
    yield from ((name, version) for name, version in json.loads(done.stdout))
