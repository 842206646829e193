"""A copy of the Pulumi project for runs that must not touch a real environment's stack files.

The engine writes into the file of a stack which secrets provider encrypts its state. That of a rehearsal is not the real one's.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import yaml

from tandem.ops.environment import ROOT, LoadedEnvironment

OF_THE_BACKEND = ("secretsprovider", "encryptedkey", "encryptionsalt")
"""Keys of a stack file that belong to the backend that holds its state."""


def apart(environment: LoadedEnvironment, folder: Path, root: Path = ROOT) -> LoadedEnvironment:
    """The environment with a copy of its project in `folder`: its stack files as they are, but for keys of their backend."""
    stacks = folder / "stacks"
    stacks.mkdir(parents=True, exist_ok=True)
    (folder / "Pulumi.yaml").write_bytes((root / "Pulumi.yaml").read_bytes())
    for name in ("infra", ".venv"):
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(root / name)
    for stack in environment.stacks:
        copy = stacks / f"Pulumi.{stack}.yaml"
        kept = _backend_keys(copy)
        content = yaml.safe_load((root / "stacks" / copy.name).read_text(encoding="utf-8"))
        given = {key: value for key, value in content.items() if key not in OF_THE_BACKEND}
        copy.write_text(yaml.safe_dump(given | kept, sort_keys=False), encoding="utf-8")
    return replace(environment, project=folder)


def _backend_keys(copy: Path) -> dict[str, str]:
    """What the engine wrote into an earlier copy: its state can be read only with that."""
    if not copy.exists():
        return {}
    content = yaml.safe_load(copy.read_text(encoding="utf-8")) or {}
    return {key: content[key] for key in OF_THE_BACKEND if key in content}
