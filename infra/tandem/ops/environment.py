"""An environment as it stands in the checkout: its stacks, in the order in which they depend on one another."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tandem.config.base import Site
from tandem.config.environment import Doors, Environment, LocalCloud, load_environment
from tandem.config.load import load_stack
from tandem.config.stack import Stack
from tandem.errors import ConfigError, Fault
from tandem.plan.environment import environment_faults

ROOT = Path(__file__).resolve().parents[3]
"""The checkout: this file is infra/tandem/ops/environment.py in it."""


@dataclass(frozen=True)
class LoadedEnvironment:
    """All files of one environment, valid on their own and together."""

    name: str
    settings: Environment
    stacks: Mapping[str, Stack]
    """Stack name -> its description, in dependency order."""
    project: Path = ROOT
    """Folder of the Pulumi project that the engine runs."""

    def reads(self, stack: str) -> frozenset[str]:
        """Names of the stacks whose outputs `stack` reads."""
        return frozenset(self.stacks[stack].uses.values())

    @property
    def regions(self) -> tuple[str, ...]:
        """Every region that a stack is in, the home site's first."""
        return tuple(dict.fromkeys((self.region, *(stack.site.region for stack in self.stacks.values()))))

    @property
    def region(self) -> str:
        """The home site's region."""
        return next(s.site.region for s in self.stacks.values() if s.site.kind == "home")


def load(name: str, root: Path = ROOT) -> LoadedEnvironment:
    """Reads every file of the environment `name`. Raises `ConfigError` with the faults of all files together."""
    if not re.fullmatch(r"[a-z]([a-z0-9-]*[a-z0-9])?", name):
        fault = Fault("environment", repr(name), "a name is lower-case letters, digits and dashes", "Correct the name")
        raise ConfigError([fault])
    faults: list[Fault] = []
    settings: Environment | None = None
    try:
        settings = with_doors(load_environment(root / "stacks" / "environments" / f"{name}.yaml"))
    except ConfigError as error:
        faults += error.faults
    stacks: dict[str, Stack] = {}
    # A stack of `dev` is Pulumi.dev-<...>.yaml; one of an environment `dev-eu` says so in its own file.
    for path in sorted((root / "stacks").glob(f"Pulumi.{name}-*.yaml")):
        try:
            stack = load_stack(path)
        except ConfigError as error:
            faults += error.faults
            continue
        if stack.environment == name:
            stacks[path.name.removeprefix("Pulumi.").removesuffix(".yaml")] = stack
    if settings is not None and not faults:
        faults += _together(name, stacks) or environment_faults(stacks)
    if faults or settings is None:
        raise ConfigError(faults)
    order = TopologicalSorter({stack: set(value.uses.values()) for stack, value in stacks.items()})
    return LoadedEnvironment(name, settings, {stack: stacks[stack] for stack in order.static_order()})


DOORS = "TANDEM_DOORS"
"""Moves a local environment's doors for one shell, as `edge=1,kubernetes=2,aws=3`: two clouds on one machine."""


def with_doors(settings: Environment) -> Environment:
    """The settings with the doors that `TANDEM_DOORS` names. Raises `ConfigError`."""
    given = os.environ.get(DOORS)
    if not given or not isinstance(settings.cloud, LocalCloud):
        return settings
    try:
        pairs = dict(part.split("=", 1) for part in given.split(","))
        doors = Doors.model_validate(settings.cloud.doors.model_dump() | {k.strip(): v for k, v in pairs.items()})
    except ValueError as error:
        rule = f"names ports of {', '.join(Doors.model_fields)}, as edge=18443,aws=14566"
        raise ConfigError([Fault(DOORS, given, rule, "Correct or unset it")]) from error
    return settings.model_copy(update={"cloud": settings.cloud.model_copy(update={"doors": doors})})


def _together(name: str, stacks: Mapping[str, Stack]) -> list[Fault]:
    """What no single file can know: references that lead nowhere, circles, sites that disagree."""
    faults: list[Fault] = []
    if not stacks:
        return [Fault(f"stacks/Pulumi.{name}-*.yaml", "", f"environment {name} has no stack", "Add its stack files")]
    sites: dict[str, tuple[str, tuple[Site, str]]] = {}
    for stack, value in stacks.items():
        where = f"stacks/Pulumi.{stack}.yaml: tandem:stack"
        for kind, used in value.uses.items():
            if used not in stacks:
                known = ", ".join(sorted(s for s, v in stacks.items() if v.kind == kind)) or f"no {kind} stack"
                faults.append(
                    Fault(f"{where}.uses.{kind}", used, f"no such stack in environment {name}", f"There is: {known}")
                )
            elif stacks[used].kind != kind:
                rule = f"is a {stacks[used].kind} stack, not a {kind} stack"
                faults.append(Fault(f"{where}.uses.{kind}", used, rule, f"Name a {kind} stack"))
        first, site = sites.setdefault(value.site.name, (stack, (value.site, value.account_id)))
        if site != (value.site, value.account_id):
            rule = f"the site {value.site.name} has another kind, region or account in stacks/Pulumi.{first}.yaml"
            faults.append(Fault(f"{where}.site", value.site.name, rule, "Make both files say the same"))
    try:
        TopologicalSorter({s: set(v.uses.values()) for s, v in stacks.items()}).prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        faults.append(Fault(f"environment {name}", circle, "stacks read one another in a circle", "Break the circle"))
    return faults
