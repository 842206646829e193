"""The images this machine has: one folder each below `images/`, with a Python environment in the cache.

`python -m local.kubernetes.images build` makes the environments. It must run where PyPI can be reached, so before the
local cloud starts: inside it there is no route out. The runtime only looks them up.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tandem.errors import ConfigError, Fault, MissingTool, TandemError
from toolchain.paths import cache_root

from local.kubernetes.containerfile import ImageConfig, read_containerfile
from local.records import read_record, write_record

VENV_IN_CONTAINER = Path("/opt/venv")
APP_IN_CONTAINER = Path("/opt/app")
REQUIREMENTS: Final[dict[str, tuple[str, ...]]] = {
    "requirements.txt": (),
    "requirements-no-deps.txt": ("--no-deps",),
}
"""Files that say what is in an image's environment, in the order of installation, and how pip takes each."""
ON_DEMAND: Final = ("dev.tandem.build", "on-demand")
"""Label of an image that is only built where it is named: it is large."""
BUILD_COMMAND = "python -m local.kubernetes.images build"
_RECORD = "environment.json"
"""Written last into an environment's folder: where it is, the environment is whole."""


class UnknownImage(TandemError):
    """No folder provides the image that was asked for."""


class BuildFailed(TandemError):
    """An environment could not be built; the message ends with what pip said."""


@dataclass(frozen=True)
class Image:
    """One image definition and the place of its environment."""

    name: str
    folder: Path
    config: ImageConfig
    environment: Path
    """Folder in the cache that holds `venv`, built or not."""
    id: str
    """`sha256:` and a hash of what defines the image; not of its program, which the container sees as it is in the
    checkout."""

    @property
    def venv(self) -> Path:
        return self.environment / "venv"

    @property
    def built(self) -> bool:
        return (self.environment / _RECORD).exists()

    @property
    def on_demand(self) -> bool:
        """Whether it is only built by name."""
        label, value = ON_DEMAND
        return self.config.labels.get(label) == value

    @property
    def size_bytes(self) -> int:
        """Bytes on disk of its environment; 0 if it is not built."""
        return int(read_record(self.environment / _RECORD).get("bytes", 0))

    @property
    def system_paths(self) -> list[str]:
        """Folders outside its environment that its Python needs."""
        paths = read_record(self.environment / _RECORD).get("system_paths", [])
        return [str(path) for path in paths]


class Images:
    """The images below one folder."""

    def __init__(self, folder: Path, cache: Path | None = None, played_by: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._played_by = played_by or {}
        self._cache = (cache if cache is not None else cache_root()) / "images"

    @property
    def cache(self) -> Path:
        """Where the environments are."""
        return self._cache

    def names(self) -> list[str]:
        """Every folder that holds a Containerfile."""
        if not self.folder.is_dir():
            return []
        return sorted(path.parent.name for path in self.folder.glob("*/Containerfile"))

    def load(self, name: str) -> Image:
        """The image `name`. Raises UnknownImage, or ConfigError if its Containerfile is wrong."""
        folder = self.folder / name
        file = folder / "Containerfile"
        if name != Path(name).name or not file.is_file():
            have = ", ".join(self.names()) or "none"
            raise UnknownImage(
                f"{self.folder}: no image {name} - only folders there can be run; there are: {have}. Correct the name."
            )
        requirements = b"\0".join(_read(folder / name) for name in REQUIREMENTS)
        digest = hashlib.sha256(b"\0".join((name.encode(), file.read_bytes(), requirements))).hexdigest()
        key = environment_key(requirements)
        return Image(name, folder, read_containerfile(file), self._cache / f"{name}-{key}", f"sha256:{digest}")

    def find(self, reference: str) -> Image:
        """The image that a reference as in a pod, or an id, means. Raises UnknownImage or ConfigError."""
        if reference.startswith("sha256:"):
            for image in self.all():
                if image.id == reference:
                    return image
            raise UnknownImage(
                f"{self.folder}: no image with id {reference} - it was changed or removed. Name the image again."
            )
        name = name_of(reference)
        return self.load(self._played_by.get(name, name))

    def all(self) -> list[Image]:
        """Every image whose Containerfile can be read."""
        found = []
        for name in self.names():
            try:
                found.append(self.load(name))
            except (ConfigError, OSError):
                continue  # `load` by its name, when a pod asks for it, tells what is wrong
        return found

    def require_built(self, image: Image) -> None:
        """Raises MissingTool naming the command if the environment of `image` is not there."""
        if not image.built:
            raise MissingTool(
                f"image {image.name}: its Python environment {image.environment} is not built - the local cloud has no "
                f"network to build it from. Run `{BUILD_COMMAND}` on the host."
            )


def name_of(reference: str) -> str:
    """The last part of a reference's repository: what stands before tag and digest."""
    return reference.partition("@")[0].rpartition("/")[2].partition(":")[0]


def environment_key(requirements: bytes) -> str:
    """Hash of what an environment is built from: the requirements and the Python that runs them."""
    python = f"{sys.implementation.cache_tag} {sys.version.split()[0]} {sys.base_prefix}"
    return hashlib.sha256(requirements + b"\0" + python.encode()).hexdigest()[:16]


def build(image: Image, say: Callable[[str], None]) -> None:
    """Build the environment of `image` unless it is there. Another builder of the same one is waited for.

    Raises BuildFailed. What a killed builder left is removed by the next.
    """
    image.environment.parent.mkdir(parents=True, exist_ok=True)
    with _locked(image.environment.with_suffix(".lock")):
        if image.built:
            say(f"{image.name}: environment is there")
            return
        began = time.monotonic()
        scratch = image.environment.with_name(f".{image.environment.name}.building")
        for leftover in (scratch, image.environment):
            shutil.rmtree(leftover, ignore_errors=True)
        say(f"{image.name}: building its environment")
        venv = scratch / "venv"
        _run([sys.executable, "-m", "venv", "--without-pip", str(venv)], image, say)
        options = ["--disable-pip-version-check", "--no-input", "--no-warn-script-location", "--progress-bar", "off"]
        pip = [sys.executable, "-m", "pip", "--python", str(venv / "bin" / "python")]
        for file, how in REQUIREMENTS.items():
            if (image.folder / file).is_file():
                _run([*pip, "install", *options, *how, "-r", str(image.folder / file)], image, say)
        _relocate(venv)
        size = sum(path.lstat().st_size for path in venv.rglob("*"))
        write_record(scratch / _RECORD, {"bytes": size, "system_paths": _python_paths(venv)})
        scratch.rename(image.environment)
        say(f"{image.name}: built in {time.monotonic() - began:.0f} s, {size / 1e6:.0f} MB")


def _relocate(venv: Path) -> None:
    """Let the scripts of `venv` name the Python of the place where the container has it."""
    for script in (venv / "bin").iterdir():
        if script.is_file() and not script.is_symlink():
            content = script.read_bytes()
            # Not the first line only: with a long path, pip writes it into a second one.
            if content.startswith(b"#!"):
                script.write_bytes(content.replace(bytes(venv), bytes(VENV_IN_CONTAINER)))


def _python_paths(venv: Path) -> list[str]:
    """Prefixes of the Python that `venv` is made from: the one it names and the one that is behind links."""
    python = venv / "bin" / "python"
    prefixes = {str(python.resolve().parents[1]), sys.base_prefix, str(Path(sys.base_prefix).resolve())}
    return sorted(prefixes - {"/"})


def _run(command: Sequence[str], image: Image, say: Callable[[str], None]) -> None:
    lines: list[str] = []
    # A user's PYTHONPATH or active environment must not decide what goes into an image.
    environment = {
        key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if line.startswith(("Collecting", "Downloading", "Installing", "Successfully")):
                say(f"{image.name}: {line.strip()[:150]}")
    if process.returncode != 0:
        said = "; ".join(line for line in lines if "error" in line.lower()) or "; ".join(lines[-3:])
        raise BuildFailed(
            f"image {image.name}: {' '.join(command[1:4])} failed - {said[:600]}. "
            f"Correct {image.folder}/requirements.txt, or the network, and run `{BUILD_COMMAND} {image.name}` again."
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def main(arguments: Sequence[str] | None = None) -> int:
    """`build [NAME ...]` builds what is missing, large images only by name; `list` shows what there is. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m local.kubernetes.images", description=main.__doc__)
    parser.add_argument("action", choices=("build", "list"))
    parser.add_argument("names", nargs="*", help="images; all if none is given")
    parser.add_argument(
        "--images", type=Path, default=Path(__file__).resolve().parents[3] / "images", help="folder of definitions"
    )
    given = parser.parse_args(arguments)
    images = Images(given.images.absolute())
    try:
        chosen = [images.load(name) for name in given.names or images.names()]
        if not chosen:
            fault = Fault(
                str(images.folder), "", "holds no folder with a Containerfile", "Name the right folder with --images"
            )
            raise ConfigError([fault])
        if given.action == "build" and not given.names:
            chosen = [image for image in chosen if not image.on_demand]
        for image in chosen:
            if given.action == "build":
                build(image, lambda line: print(line, flush=True))
            else:
                state = (
                    f"{image.size_bytes / 1e6:.0f} MB" if image.built else f"not built; {BUILD_COMMAND} {image.name}"
                )
                print(f"{image.name}\t{state}\t{image.environment}")
    except TandemError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
