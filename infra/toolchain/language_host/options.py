"""The `runtime.options` of a Pulumi.yaml, read as the official language host reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOOLCHAINS = ("pip", "poetry", "uv")
TYPECHECKERS = ("mypy", "pyright")
_KNOWN = ("virtualenv", "toolchain", "typechecker")


class OptionError(ValueError):
    """An option is not what it may be; the message is for people."""


@dataclass(frozen=True)
class Options:
    """Where a program is and how it is to be run."""

    root: Path
    """Folder of Pulumi.yaml (or PulumiPolicy.yaml); relative options start there."""
    program: Path
    """Folder of the program."""
    toolchain: str
    virtualenv: Path | None
    """Absolute; None means the Python of PATH, or what the toolchain chooses."""
    virtualenv_given: str
    """As written, for messages."""
    typechecker: str | None

    @property
    def project_file(self) -> str:
        """Where a person finds the options."""
        names = ("Pulumi.yaml", "PulumiPolicy.yaml", "PulumiPlugin.yaml")
        return str(next((self.root / name for name in names if (self.root / name).exists()), self.root / names[0]))


def read(root: str, program: str, options: Mapping[str, Any]) -> Options:
    """Check the options; raises `OptionError` naming the first that is wrong."""
    folder = Path(root)
    given = {name: options.get(name) for name in _KNOWN}
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise OptionError(f"{folder}: runtime.options.{name} = {value!r} - must be a string.")
    virtualenv = given["virtualenv"] or ""
    return Options(
        root=folder,
        program=Path(program),
        toolchain=_choice(folder, "toolchain", given["toolchain"], TOOLCHAINS) or _detected(Path(program)),
        virtualenv=folder / virtualenv if virtualenv else None,
        virtualenv_given=virtualenv,
        typechecker=_choice(folder, "typechecker", given["typechecker"], TYPECHECKERS),
    )


def _choice(folder: Path, name: str, value: str | None, allowed: tuple[str, ...]) -> str | None:
    if not value:
        return None
    if value.lower() not in allowed:
        raise OptionError(f"{folder}: runtime.options.{name} = {value!r} - must be one of {', '.join(allowed)}.")
    return value.lower()


def _detected(program: Path) -> str:
    """Which toolchain's lock file lies nearest; pip where there is none."""
    for name, toolchain in (("uv.lock", "uv"), ("poetry.lock", "poetry")):
        if any((folder / name).exists() for folder in (program, *program.parents)):
            return toolchain
    return "pip"
