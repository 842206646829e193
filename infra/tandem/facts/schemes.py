"""Which quantization scheme runs on which accelerator in SGLang 0.5.23. `data/schemes.json` has source and date."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Literal

Architecture = Literal["dense", "moe"]


class Support(StrEnum):
    """What a scheme does on an accelerator."""

    YES = "yes"
    JIT = "jit"
    """Runs on kernels that are compiled at the first use: a slow first start."""
    UNPROVED = "unproved"
    """The loader accepts it; nobody was seen running it."""
    DEGRADED = "degraded"
    """Loads, but computes at a higher precision than its name says, with no more than a warning."""
    NO = "no"
    """The loader or the first request raises."""


RUNS: Final = frozenset({Support.YES, Support.JIT, Support.UNPROVED})
"""What counts as able to run. A degraded scheme does not: it is not what was asked for, at its memory and its speed."""


@dataclass(frozen=True)
class Scheme:
    """One quantization scheme under the name that stack files use."""

    name: str
    family: str
    """What the scheme promises: bits of weights and activations, for example `w4a8`."""
    flag: str | None
    """SGLang's `--quantization` literal; None where the flag is left out."""
    weight_bits: int
    activation_bits: int
    group: int | None
    """Columns that share one scale; a tensor-parallel slice must hold a multiple of it. None means no such limit."""
    architectures: frozenset[str]
    cells: MappingProxyType[int, Support]
    """Column's compute capability (80 is 8.0) -> support."""
    note: str

    def on(self, capability: int) -> Support:
        """Support on an accelerator of compute capability `capability` (89 is 8.9, 103 is 10.3)."""
        columns = [column for column in self.cells if column <= capability]
        return self.cells[max(columns)] if columns else Support.NO

    def runs(self, capability: int, architecture: str) -> bool:
        """Whether the accelerator can run a model of this architecture under this scheme."""
        return architecture in self.architectures and self.on(capability) in RUNS


@cache
def schemes() -> MappingProxyType[str, Scheme]:
    """All schemes by name, each family's preferred one first."""
    document = json.loads((files(__package__) / "data" / "schemes.json").read_text(encoding="utf-8"))
    rows = {
        row["name"]: Scheme(
            name=row["name"],
            family=row["family"],
            flag=row["flag"],
            weight_bits=row["weight_bits"],
            activation_bits=row["activation_bits"],
            group=row["group"],
            architectures=frozenset(row["architectures"]),
            cells=MappingProxyType({int(column): Support(cell) for column, cell in row["cells"].items()}),
            note=row["note"],
        )
        for row in document["schemes"]
    }
    return MappingProxyType(rows)


@cache
def families() -> tuple[str, ...]:
    """The families that a role may ask for, in the table's order."""
    return tuple(dict.fromkeys(scheme.family for scheme in schemes().values()))
