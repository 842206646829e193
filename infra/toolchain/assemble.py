"""Puts a toolchain's folder together from built parts and copied files, in one step."""

from __future__ import annotations

import compileall
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from toolchain import launchers, paths, pins


def assemble(python: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Make the current toolchain's folder; every part must be built. `python` runs the language host by default.

    An incomplete folder that is there already is replaced, but what the engine keeps in its `home` (selected stacks,
    downloaded plugins) is carried over.
    """
    root = paths.toolchains_root(environ) / pins.key()
    unfinished = root.with_name(f".unfinished-{root.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    _link_parts(unfinished, environ)
    _write_launchers(unfinished, python)
    _copy_language_host(unfinished / "lib")
    record = {"key": pins.key(), "python": python, "versions": pins.versions()}
    (unfinished / paths.RECORD).write_text(json.dumps(record, indent=2) + "\n")
    if root.exists():
        _keep_home(root / "home", unfinished / "home")
        shutil.rmtree(root)
    unfinished.rename(root)
    return root


def _link_parts(root: Path, environ: Mapping[str, str]) -> None:
    bin_folder = root / "bin"
    plugin = root / "home" / "plugins" / f"resource-kubernetes-v{pins.KUBERNETES_PROVIDER}"
    bin_folder.mkdir(parents=True)
    plugin.mkdir(parents=True)
    for part in pins.parts():
        target = plugin if part.name == pins.KUBERNETES_PLUGIN else bin_folder
        for file in paths.part_folder(part, environ).iterdir():
            _link(file, target / file.name)
    (bin_folder / "kubectl").symlink_to("kube")


def _link(source: Path, target: Path) -> None:
    """A hard link, so that toolchains that differ in a launcher share their hundreds of megabytes."""
    try:
        target.hardlink_to(source)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)


def _write_launchers(root: Path, python: str) -> None:
    aws = root / "home" / "plugins" / f"resource-aws-v{pins.AWS_PROVIDER}" / "pulumi-resource-aws"
    aws.parent.mkdir(parents=True)
    for path, text in (
        (root / "bin" / "pulumi-language-python", launchers.language_host(python)),
        (aws, launchers.AWS_PLUGIN),
    ):
        path.write_text(text)
        path.chmod(0o755)


def _copy_language_host(library: Path) -> None:
    """The host is copied, so that one shared toolchain works without the checkout that built it."""
    package = library / "toolchain" / "language_host"
    package.mkdir(parents=True)
    shutil.copyfile(pins.SOURCE / "__init__.py", package.parent / "__init__.py")
    for source in (pins.SOURCE / "language_host").glob("*.py"):
        shutil.copyfile(source, package / source.name)
    (library / "__main__.py").write_text(launchers.LIBRARY_MAIN)
    # The host starts with every command: it must not compile itself each time.
    compileall.compile_dir(str(library), quiet=2)


def _keep_home(old: Path, new: Path) -> None:
    """Move what the engine itself wrote from an old home to the new one; the toolchain's own plugins stay."""
    for folder in (old, old / "plugins"):
        if not folder.is_dir():
            continue
        for entry in folder.iterdir():
            target = new / entry.relative_to(old)
            if not target.exists():
                entry.rename(target)
