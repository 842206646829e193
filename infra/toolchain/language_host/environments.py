"""The Python environment of a program, by toolchain: which interpreter runs it and how its dependencies get there."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from toolchain.language_host.options import Options


class NoEnvironment(Exception):
    """There is no usable Python environment; the message is for people."""


@dataclass(frozen=True)
class Step:
    """One command of an installation, with the line that announces it."""

    announcement: str
    argv: tuple[str, ...]
    cwd: Path


class PythonEnvironment:
    """What the `pip` toolchain gives: a virtual environment where the option names one, else PATH's Python."""

    tool = "pip"

    def __init__(self, options: Options) -> None:
        self.options = options

    @property
    def folder(self) -> Path | None:
        """The virtual environment's folder, where there is one."""
        return self.options.virtualenv

    def python(self) -> str:
        """The interpreter. Raises `NoEnvironment` where it is not there."""
        if self.folder is None:
            return ambient_python()
        interpreter = self.folder / "bin" / "python"
        if not interpreter.is_file():
            raise NoEnvironment(self._no_environment(self.folder))
        return str(interpreter)

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """Variables under which the interpreter runs, the virtual environment activated."""
        variables = dict(os.environ if base is None else base)
        if self.folder is not None:
            search = variables.get("PATH")
            variables["PATH"] = os.pathsep.join([str(self.folder / "bin"), *([search] if search else [])])
            variables["VIRTUAL_ENV"] = str(self.folder)
            variables.pop("PYTHONHOME", None)
        return variables

    def installation(self) -> list[Step]:
        """What makes the environment hold the program's dependencies."""
        program = self.options.program
        steps = []
        if self.folder is not None:
            steps.append(
                Step("Creating virtual environment...", (ambient_python(), "-m", "venv", str(self.folder)), program)
            )
        python = str(self.folder / "bin" / "python") if self.folder else ambient_python()
        pip = (python, "-m", "pip", "install")
        base = ("--upgrade", "pip", "setuptools", "wheel")
        steps.append(Step("Updating pip, setuptools, and wheel in virtual environment...", (*pip, *base), program))
        if (program / "requirements.txt").exists():
            steps.append(
                Step("Installing dependencies in virtual environment...", (*pip, "-r", "requirements.txt"), program)
            )
        return steps

    def _no_environment(self, folder: Path) -> str:
        state = "is not a virtual environment (it has no bin/python)" if folder.exists() else "does not exist"
        return (
            f"{self.options.project_file}: runtime.options.virtualenv = {self.options.virtualenv_given or folder.name} "
            f"- {folder} {state}. Run: {self.remedy(folder)}"
        )

    def remedy(self, folder: Path) -> str:
        """The command that makes the environment."""
        return f"pulumi install, or python3 -m venv {folder} and install the program's dependencies into it"


class UvEnvironment(PythonEnvironment):
    """The environment that `uv sync` keeps."""

    tool = "uv"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._uv = _required_tool("uv", options)

    @property
    def folder(self) -> Path:
        """As uv decides: the option, else UV_PROJECT_ENVIRONMENT, else .venv beside uv.lock or pyproject.toml."""
        if self.options.virtualenv is not None:
            return self.options.virtualenv
        return self._project / os.environ.get("UV_PROJECT_ENVIRONMENT", ".venv")

    @property
    def _project(self) -> Path:
        program = self.options.program
        for name in ("uv.lock", "pyproject.toml"):
            for folder in (program, *program.parents):
                if (folder / name).exists():
                    return folder
        return program

    def environment(self, base: Mapping[str, str] | None = None) -> dict[str, str]:
        """As for pip, and uv's own commands find the same environment."""
        return {**super().environment(base), "UV_PROJECT_ENVIRONMENT": str(self.folder)}

    def installation(self) -> list[Step]:
        """`uv sync` makes the environment and installs what uv.lock says."""
        return [Step("Installing dependencies with uv...", (self._uv, "sync"), self._project)]

    def remedy(self, folder: Path) -> str:
        """The command that makes the environment."""
        return "pulumi install, or uv sync"


class PoetryEnvironment(PythonEnvironment):
    """The environment that poetry keeps for the project, wherever poetry put it."""

    tool = "poetry"

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._poetry = _required_tool("poetry", options)
        self._found: Path | None = None

    @property
    def folder(self) -> Path:
        """What `poetry env info` says."""
        if self._found is None:
            command = [self._poetry, "env", "info", "--path", "--no-ansi"]
            done = subprocess.run(command, cwd=self.options.program, capture_output=True, text=True, check=False)
            if done.returncode or not done.stdout.strip():
                raise NoEnvironment(
                    f"{self.options.program}: poetry has no virtual environment for it - "
                    f"{done.stderr.strip() or 'none was made'}. "
                    "Run: pulumi install, or poetry install"
                )
            self._found = Path(done.stdout.strip())
        return self._found

    def installation(self) -> list[Step]:
        """`poetry install` makes the environment and installs what poetry.lock says."""
        return [
            Step("Installing dependencies with poetry...", (self._poetry, "install", "--no-ansi"), self.options.program)
        ]

    def remedy(self, folder: Path) -> str:
        """The command that makes the environment."""
        return "pulumi install, or poetry install"


_KINDS: Mapping[str, type[PythonEnvironment]] = {
    kind.tool: kind for kind in (PythonEnvironment, UvEnvironment, PoetryEnvironment)
}


def of(options: Options) -> PythonEnvironment:
    """The environment that the options name. Raises `NoEnvironment` where its tool is not on PATH."""
    return _KINDS[options.toolchain](options)


def ambient_python() -> str:
    """PATH's Python: $PULUMI_PYTHON_CMD, else python3, else python."""
    chosen = os.environ.get("PULUMI_PYTHON_CMD")
    names = [chosen] if chosen else ["python3", "python"]
    for name in names:
        if found := shutil.which(name):
            return found
    raise NoEnvironment(
        f"PATH: holds none of {', '.join(names)} - a Python program needs one. Install Python 3.11 or newer."
    )


def _required_tool(name: str, options: Options) -> str:
    if found := shutil.which(name):
        return found
    raise NoEnvironment(
        f"{options.project_file}: runtime.options.toolchain = {name} - {name} is not on PATH. "
        f"Install {name}, or set the option to pip."
    )
