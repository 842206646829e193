"""One role's engine as a pair check sees it: the GPU below it, and what its arguments come to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tandem.errors import Fault
from tandem.facts import engine_flags
from tandem.facts.instances import Instance

BLACKWELL: Final = 100
"""Compute capability from which FlashAttention 4 is used."""
HOPPER: Final = 90
PAGES: Final = {"flashmla": 64, "cutlass_mla": 128}
"""Attention backends that work with one page size, whatever is asked for (sglang.md 10)."""
DTYPES: Final = {"half": "float16", "float": "float32", "bf16": "bfloat16"}


@dataclass(frozen=True)
class EngineSide:
    """Where and how one role's engine runs. Nothing is known of one that is not described."""

    instance: Instance | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Flag under its own name (`--tp-size`) -> value."""

    def value(self, flag: str, default: str = "") -> str:
        """The argument, or the default where it is not given."""
        return self.arguments.get(flag, default)

    def number(self, flag: str, default: int = 1) -> int:
        """The same as a whole number."""
        text = self.value(flag)
        return int(text) if text.isdigit() else default

    @property
    def capability(self) -> int | None:
        """Compute capability of its GPU (90 is 9.0)."""
        accelerator = self.instance.accelerator if self.instance else None
        return accelerator.capability if accelerator else None

    def page_size(self) -> int | None:
        """Tokens of a page as the engine will really have them; None where neither arguments nor GPU tell."""
        backend = self.value("--attention-backend")
        given = self.value("--page-size")
        if backend == "fa4" and (self.capability or 0) >= BLACKWELL:
            return 128
        if backend in PAGES:
            return PAGES[backend]
        if given:
            return int(given)
        if self.capability is None:
            return None
        return 64 if self.capability >= BLACKWELL else 1

    def dtype(self, of_file: str | None) -> str:
        """The dtype that the engine computes in. `auto` takes the file's, and half precision where that is none."""
        given = self.value("--dtype", "auto")
        if given != "auto":
            return DTYPES.get(given, given)
        return of_file if of_file in ("bfloat16", "float16") else "float16"


def arguments(given: Mapping[str, object], where: str) -> tuple[dict[str, str], list[Fault]]:
    """(flag under its own name -> value as text, what is wrong). Names may come with or without dashes, and as aliases."""
    known = engine_flags.table().by_name()
    found: dict[str, str] = {}
    wrong: list[Fault] = []
    for name, value in given.items():
        flag = "--" + str(name).lstrip("-").replace("_", "-")
        if flag not in known:
            rule = f"is not a flag of sglang {engine_flags.table().version}"
            wrong.append(Fault(f"{where}.{name}", "", rule, engine_flags.nearest(flag)))
            continue
        text = str(value).lower() if isinstance(value, bool) else str(value)
        fault = None if isinstance(value, bool) else engine_flags.value_fault(known[flag], text, f"{where}.{name}")
        if fault is not None:
            wrong.append(fault)
        found[known[flag].name] = text
    return found, wrong
