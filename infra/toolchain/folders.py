"""Whether a folder that a person chose can be used, told before anything is written there."""

from __future__ import annotations

import os
from pathlib import Path

from tandem.errors import TandemError


class Unusable(TandemError):
    """A folder that this user cannot keep files in."""

    exit_code = 3


def usable(folder: Path, variable: str) -> Path:
    """`folder`, which may not exist yet. `variable` names where it was chosen. Raises `Unusable`."""
    nearest = folder
    try:
        while not nearest.exists() and nearest != nearest.parent:
            nearest = nearest.parent
        rule = "" if nearest.is_dir() else "is no folder"
    except OSError as error:
        rule = f"cannot be reached: {error.strerror}"
    if not rule and not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
        rule = "is not this user's to write in"
    if rule:
        raise Unusable(f"{nearest}: {rule} - files are kept in {folder}. Choose another folder: {variable}=DIR.")
    return folder
