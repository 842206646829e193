"""The matrix's rows through the real engine: every row takes each step in the same run of it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pulumi
import pulumi_aws
from local.aws.plugin.schema import ResourceSchema
from pulumi import automation as auto

from tests.local.aws import engine_stack
from tests.local.aws.engine_stack import EngineStack, Run
from tests.local.aws.life_cycles import ROWS
from tests.local.aws.life_cycles.cycle import Inputs, It, Lacks, LifeCycle
from tests.local.aws.server_process import ServerProcess

ACCOUNT = "123456789012"
DEFAULT_TAGS = {"owner": "tandem"}
STEPS = (
    "foretold",
    "created",
    "created_preview",
    "created_refresh",
    "change_foretold",
    "changed",
    "changed_preview",
    "changed_refresh",
    "drift_seen",
    "drift_mended",
    "mended_refresh",
    "imported",
    "imported_preview",
    "replaced",
    "replaced_preview",
    "replaced_refresh",
    "deleted",
    "deleted_again",
    "deleted_refresh",
)
"""In their order. Each is a run of the engine; what each expects is said by its test."""


class Resource(pulumi.CustomResource):
    """A resource by its token, with inputs and outputs under their wire names."""

    def __init__(self, row: LifeCycle, inputs: Inputs, options: pulumi.ResourceOptions) -> None:
        outputs = dict.fromkeys(ResourceSchema.of(row.kind).computed)
        super().__init__(row.kind, row.name, {**outputs, **inputs}, options)


class Operator:
    """Somebody with boto, behind the engine's back."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        if service not in self._clients:
            self._clients[service] = self._server.client(service)
        return self._clients[service]

    def record(self, kind: str, name: str, **outputs: Any) -> None:
        record = self._ask("GET", kind, name)
        self._ask("PUT", kind, name, {**record, "outputs": {**record["outputs"], **outputs}})

    def forget(self, kind: str, name: str) -> None:
        self._ask("DELETE", kind, name)

    def _ask(self, method: str, kind: str, name: str, value: Any = None) -> Any:
        path = "/".join(quote(part, safe="") for part in ("us-east-1", kind, name))
        url = f"{self._server.url}/_tandem/recorded/{path}"
        data = None if value is None else json.dumps(value).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method)) as answer:
            return json.load(answer)


class Life:
    """All rows, step by step. A step's runs are made once, when the step is first asked for, after all earlier ones."""

    def __init__(self, folder: Path, server: ServerProcess) -> None:
        self.outside = Operator(server)
        self.runs: dict[str, Run] = {}
        self.states: dict[str, auto.Deployment] = {}
        """Exported states by the step after which they were taken."""
        self._main, self._other = (EngineStack(folder, name, server.url) for name in ("main", "other"))
        self._broken: str | None = None
        """The step that could not be made at all: none after it is tried."""

    def run(self, step: str) -> Run:
        """The run of a step."""
        for earlier in STEPS[: STEPS.index(step) + 1]:
            if self._broken is not None:
                raise AssertionError(f"the life ended early, at {self._broken}")
            if earlier not in self.runs:
                self._broken = earlier
                self.runs[earlier] = getattr(self, f"_{earlier}")()
                self._broken = None
        return self.runs[step]

    @property
    def log(self) -> str:
        """Everything the engine has logged so far, but for imports: what is read from the world is nobody's secret yet."""
        runs = [run for step, run in self.runs.items() if not step.startswith("imported")]
        return "\n".join(line for run in runs for line in run.log)

    def it(self, row: LifeCycle, step: str) -> It:
        """A row's resource in the state after a step."""
        found = engine_stack.resources(self.states[step])[row.name]
        outputs: dict[str, Any] = engine_stack.in_clear(found["outputs"])
        return {**outputs, "id": found["id"]}

    @property
    def backend(self) -> Path:
        """Folder of the main stack's state."""
        return self._main.backend

    # ---- the steps

    def _foretold(self) -> Run:
        return self._with("first").preview()

    def _created(self) -> Run:
        return self._kept("created", self._main.up())

    def _created_preview(self) -> Run:
        return self._main.preview()

    def _created_refresh(self) -> Run:
        return self._main.refresh()

    def _change_foretold(self) -> Run:
        return self._with("changed").preview()

    def _changed(self) -> Run:
        return self._kept("changed", self._main.up())

    def _changed_preview(self) -> Run:
        return self._main.preview()

    def _changed_refresh(self) -> Run:
        return self._main.refresh()

    def _drift_seen(self) -> Run:
        for row in ROWS:
            if row.drift is not None and not isinstance(row.drift, Lacks):
                row.drift.act(self.outside, self.it(row, "changed"))
        return self._main.refresh()

    def _drift_mended(self) -> Run:
        return self._kept("drift_mended", self._main.up())

    def _mended_refresh(self) -> Run:
        return self._main.refresh()

    def _imported(self) -> Run:
        made = {row.name: self.it(row, "drift_mended") for row in ROWS}
        self._other.program = self._program("changed", made)
        return self._other.up()

    def _imported_preview(self) -> Run:
        run = self._other.preview()
        self._other.forget()
        return run

    def _replaced(self) -> Run:
        return self._kept("replaced", self._with("replaced").up())

    def _replaced_preview(self) -> Run:
        return self._main.preview()

    def _replaced_refresh(self) -> Run:
        return self._main.refresh()

    def _deleted(self) -> Run:
        return self._main.destroy()

    def _deleted_again(self) -> Run:
        self._main.restore(self.states["replaced"])
        return self._main.destroy()

    def _deleted_refresh(self) -> Run:
        self._main.restore(self.states["replaced"])
        return self._main.refresh()

    # ---- parts

    def _with(self, stage: str) -> EngineStack:
        self._main.program = self._program(stage)
        return self._main

    def _kept(self, step: str, run: Run) -> Run:
        self.states[step] = self._main.export()
        return run

    def _program(self, stage: str, imported: Mapping[str, It] | None = None) -> Any:
        """The program of a stage; with `imported`, one that takes the resources of these outputs over."""

        def program() -> None:
            provider = pulumi_aws.Provider(
                "aws", region="us-east-1", allowed_account_ids=[ACCOUNT], default_tags={"tags": DEFAULT_TAGS}
            )
            made: dict[str, Resource] = {}

            def ref(name: str, output: str = "id") -> Any:
                return getattr(made[name], output)

            for row in ROWS:
                inputs = _with_secrets(row, row.inputs(ref, stage), ref, stage)
                options = pulumi.ResourceOptions(provider=provider, delete_before_replace=row.delete_first or None)
                if imported is not None and callable(row.import_id):
                    options.import_ = row.import_id(imported[row.name])
                    inputs = {**_name_that_was_made_up(row, imported[row.name]), **inputs}
                made[row.name] = Resource(row, inputs, options)

        return program


def _with_secrets(row: LifeCycle, inputs: Inputs, ref: Any, stage: str) -> Inputs:
    """Every value that changes in place is a secret from then on."""
    changed = row.changed(ref) if stage != "first" and callable(row.changed) else {}
    return {
        name: pulumi.Output.secret(value) if name in changed and value is not None else value
        for name, value in inputs.items()
    }


def _name_that_was_made_up(row: LifeCycle, it: It) -> Inputs:
    """Whoever imports a resource with an automatic name must give that name."""
    rule = ResourceSchema.of(row.kind).autoname
    return {} if rule is None else {rule["property"]: it[rule["property"]]}
