"""A stack of the real Pulumi engine, with an inline program and a file backend, whose runs are told apart by resource."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi import automation as auto
from pulumi.automation import errors as auto_errors
from pulumi.automation.events import EngineEvent, StepEventMetadata
from toolchain import paths

from tests.local.aws.server_process import INFRA

PASSPHRASE = "of a test"
SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d"


@dataclass
class Outcome:
    """What one run of the engine did to one resource."""

    operations: list[str] = field(default_factory=list)
    failed: bool = False
    messages: list[str] = field(default_factory=list)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Outputs after the last step, as the engine's log shows them."""
    diff: Mapping[str, str] = field(default_factory=dict)
    """Path -> kind of the difference."""

    @property
    def operation(self) -> str:
        """The one word for all its steps: `replace` for a creation and a deletion."""
        words = set(self.operations)
        if self.failed or not words:
            return "failed" if self.failed else "untouched"
        if words & {"replace", "create-replacement", "delete-replaced"}:
            return "replace"
        return self.operations[-1]

    def __str__(self) -> str:
        return f"{self.operations} {dict(self.diff)} {' '.join(self.messages)}"


class Run(dict[str, Outcome]):
    """One run of the engine: logical name -> outcome, and what it said about no resource in particular."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.log: list[str] = []
        """Every event as text."""

    def __missing__(self, name: str) -> Outcome:
        return Outcome(messages=self.messages)

    def watch(self, event: EngineEvent) -> None:
        """Takes one event of the engine's log."""
        self.log.append(repr(event))
        for step in (event.resource_pre_event, event.res_outputs_event):
            if step is not None:
                self._step(step.metadata)
        if event.res_op_failed_event is not None:
            self._of(event.res_op_failed_event.metadata.urn).failed = True
        said = event.diagnostic_event
        if said is not None and not said.ephemeral and said.severity in ("error", "warning"):
            (self._of(said.urn).messages if said.urn else self.messages).append(said.message.strip())

    def _of(self, urn: str) -> Outcome:
        return self.setdefault(urn.rpartition("::")[2], Outcome())

    def _step(self, step: StepEventMetadata) -> None:
        outcome = self._of(step.urn)
        if step.op.value != "refresh":  # the outputs' event says what it found
            outcome.operations.append(step.op.value)
        if step.new is not None:
            outcome.outputs = step.new.outputs or {}
        outcome.diff = {path: found.diff_kind.value for path, found in (step.detailed_diff or {}).items()}


class EngineStack:
    """One stack. `program` is what the next run runs."""

    def __init__(self, folder: Path, name: str, endpoint: str) -> None:
        self.program: Callable[[], None] = lambda: None
        tools = paths.current()
        self.backend = folder / name
        self.backend.mkdir()
        variables = {
            "PATH": f"{tools.bin}{os.pathsep}{os.environ['PATH']}",
            "PULUMI_HOME": str(tools.home),
            "PULUMI_BACKEND_URL": f"file://{self.backend}",
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "TANDEM_PYTHON": sys.executable,
            "TANDEM_INFRA": str(INFRA),
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_REGION": "us-east-1",
        }
        settings = auto.ProjectSettings(name="matrix", runtime="python")
        self._stack = auto.create_or_select_stack(
            name,
            project_name="matrix",
            program=lambda: self.program(),
            opts=auto.LocalWorkspaceOptions(
                env_vars=variables,
                project_settings=settings,
                pulumi_command=auto.PulumiCommand(root=str(tools.root)),
            ),
        )

    def preview(self) -> Run:
        return self._run(lambda watch: self._stack.preview(on_event=watch))

    def up(self) -> Run:
        return self._run(lambda watch: self._stack.up(on_event=watch, continue_on_error=True))

    def refresh(self) -> Run:
        return self._run(lambda watch: self._stack.refresh(on_event=watch))

    def destroy(self) -> Run:
        return self._run(lambda watch: self._stack.destroy(on_event=watch, continue_on_error=True))

    def export(self) -> auto.Deployment:
        """The stack's state, with secrets in clear inside their marks."""
        return self._stack.export_stack()

    def restore(self, state: auto.Deployment) -> None:
        """Makes the engine believe an earlier state."""
        self._stack.import_stack(state)

    def forget(self) -> None:
        """Drops the stack and leaves its resources."""
        self._stack.workspace.remove_stack(self._stack.name, force=True)

    def _run(self, call: Callable[[Callable[[EngineEvent], None]], object]) -> Run:
        run = Run()
        try:
            call(run.watch)
        except auto_errors.CommandError as error:
            # What failed is in the run, by resource; what belongs to none is kept here.
            run.messages.append(str(error)[-3000:])
        return run


def resources(state: auto.Deployment) -> dict[str, Mapping[str, Any]]:
    """Logical name -> resource, of an exported state."""
    return {entry["urn"].rpartition("::")[2]: entry for entry in (state.deployment or {}).get("resources", ())}


def in_clear(value: Any) -> Any:
    """A property of an exported state without its secret marks."""
    if isinstance(value, Mapping):
        if SECRET_SIGNATURE in value:
            return in_clear(json.loads(value["plaintext"]))
        return {key: in_clear(item) for key, item in value.items()}
    return [in_clear(item) for item in value] if isinstance(value, list) else value


def is_secret(value: Any) -> bool:
    """Is a property of an exported state marked as secret?"""
    return isinstance(value, Mapping) and SECRET_SIGNATURE in value
