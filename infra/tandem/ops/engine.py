"""One stack's operations, by Pulumi's Automation API: up, preview, destroy, with progress and errors for a person."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pulumi import automation as auto
from pulumi.automation import errors as auto_errors
from pulumi.automation import events as auto_events

from tandem.errors import EngineFailed
from tandem.ops import orphans
from tandem.ops.progress import Progress

T = TypeVar("T")

Changes = Mapping[str, int]
"""Operation (create, update, same, delete, replace) -> number of resources."""


PROGRAM_TYPE = "pulumi:pulumi:Stack"
PROGRAM_FAILED = "Program exited with non-zero exit code"
"""The engine's words for a program that failed: true, and no help."""
PRINTED_LINES = 3


@dataclass
class _Watch:
    """Turns the engine's events into progress lines and keeps the errors."""

    stack: str
    progress: Progress
    verb: str
    errors: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    """What the program wrote to stderr: its own words, where the engine only knows that it failed."""

    def __call__(self, event: auto_events.EngineEvent) -> None:
        if event.res_outputs_event is not None:
            operation = str(getattr(event.res_outputs_event.metadata.op, "value", event.res_outputs_event.metadata.op))
            if operation not in ("same", "read"):
                urn = event.res_outputs_event.metadata.urn
                self.progress.say(self.stack, f"{self.verb} {operation} {_short(urn)}")
        diagnostic = event.diagnostic_event
        if diagnostic is None or diagnostic.ephemeral:
            return
        text = " ".join(diagnostic.message.split())
        if diagnostic.severity == "info#err" and text:
            self.printed.append(text)
        elif diagnostic.severity == "error":
            subject = "" if not diagnostic.urn or PROGRAM_TYPE in diagnostic.urn else _short(diagnostic.urn) + ": "
            self.errors.append(subject + text)

    @property
    def reason(self) -> str:
        """Why it failed, on one line; empty where no event said."""
        told = [error for error in self.errors if PROGRAM_FAILED not in error]
        return "; ".join(dict.fromkeys(told or self.printed[-PRINTED_LINES:] or self.errors))


@dataclass(frozen=True)
class Engine:
    """The Pulumi engine as an environment's variables reach it."""

    variables: Mapping[str, str]
    progress: Progress
    project: Path
    """Folder of the Pulumi project."""

    def up(self, stack: str) -> Changes:
        """Applies the stack. Goes on from whatever an interrupted run left. Raises `EngineFailed`."""
        handle = self._select(stack)
        self._recover(handle, stack)
        result = self._run(stack, "up", lambda watch: handle.up(on_event=watch, color="never", suppress_outputs=True))
        return _changes(result.summary.resource_changes)

    def preview(self, stack: str, *, expect_no_changes: bool = False) -> Changes:
        """What `up` would do. Raises `EngineFailed`, also where a change is found that was not expected."""
        handle = self._select(stack)
        result = self._run(stack, "would", lambda watch: handle.preview(on_event=watch, color="never"))
        changes = _changes(result.change_summary)
        if expect_no_changes and set(changes) - {"same"}:
            raise EngineFailed(f"{stack}: {changes} - no changes were expected. Run: tandem up")
        return changes

    def destroy(self, stack: str) -> Changes:
        """Destroys every resource of the stack and then the stack's own record. Raises `EngineFailed`."""
        handle = self._select(stack)
        self._recover(handle, stack)
        result = self._run(stack, "destroy", lambda watch: handle.destroy(on_event=watch, color="never"))
        handle.workspace.remove_stack(stack, preserve_config=True)
        return _changes(result.summary.resource_changes)

    def unprotect(self, stack: str) -> int:
        """Lets every resource of the stack be destroyed; gives how many could not be."""
        handle = self._select(stack)
        state = handle.export_stack()
        protected = [found for found in (state.deployment or {}).get("resources") or [] if found.get("protect")]
        for resource in protected:
            resource["protect"] = False
        if protected:
            handle.import_stack(state)
        return len(protected)

    def outputs(self, stack: str) -> Mapping[str, Any]:
        """The stack's outputs; secret ones are left out. Empty where it was never applied."""
        values = self._select(stack).outputs()
        return {name: value.value for name, value in values.items() if not value.secret}

    def recorded(self) -> Mapping[str, Mapping[str, Any]]:
        """Every stack that the backend has a record of: its number of resources and its last operation."""
        return {
            found.name: {
                "resources": found.resource_count or 0,
                "updated": found.last_update.isoformat() if found.last_update else None,
                "in_progress": bool(found.update_in_progress),
            }
            for found in self._workspace.list_stacks()
        }

    def ensure(self, stack: str) -> None:
        """Makes the stack's (empty) record, so that others can refer to it."""
        self._select(stack)

    @cached_property
    def _workspace(self) -> auto.LocalWorkspace:
        """One for all stacks: making it starts the engine once, to ask its version."""
        backend = self.variables.get("PULUMI_BACKEND_URL", "")
        if backend.startswith("file://"):
            Path(backend.removeprefix("file://")).mkdir(parents=True, exist_ok=True)
        command = shutil.which("pulumi", path=self.variables.get("PATH"))
        root = str(Path(command).parent.parent) if command and Path(command).parent.name == "bin" else None
        return auto.LocalWorkspace(
            work_dir=str(self.project), env_vars=dict(self.variables), pulumi_command=auto.PulumiCommand(root=root)
        )

    def _select(self, stack: str) -> auto.Stack:
        try:
            return auto.Stack.create_or_select(stack, self._workspace)
        except auto_errors.CommandError as error:
            raise EngineFailed(f"{stack}: {_reason(error)}") from error

    def _recover(self, handle: auto.Stack, stack: str) -> None:
        """Clears what a killed run left: its lock, and creations of which nobody knows whether they happened."""
        orphans.end(Path(self.variables["TANDEM_STATE"]))
        if self._break_stale_lock(stack):
            self.progress.say(stack, "a killed run's lock was removed")
        pending = (handle.export_stack().deployment or {}).get("pending_operations") or []
        if pending:
            self.progress.say(stack, f"{len(pending)} operations were interrupted: reading the world again")
            self._run(stack, "refresh", lambda watch: handle.refresh(on_event=watch, clear_pending_creates=True))

    def _break_stale_lock(self, stack: str) -> bool:
        """Removes lock files of processes of this machine that are gone. A live process's lock stays."""
        backend = self.variables.get("PULUMI_BACKEND_URL", "")
        if not backend.startswith("file://"):
            return False
        folder = (
            Path(backend.removeprefix("file://")) / ".pulumi" / "locks" / "organization" / self._project_name() / stack
        )
        broken = False
        for lock in folder.glob("*.json"):
            holder = _lock_holder(lock)
            if holder is not None and not _is_running(holder):
                lock.unlink(missing_ok=True)
                broken = True
        return broken

    def _project_name(self) -> str:
        return str(self._workspace.project_settings().name)

    def _run(self, stack: str, verb: str, call: Callable[[_Watch], T]) -> T:
        watch = _Watch(stack, self.progress, verb)
        try:
            return call(watch)
        except auto_errors.ConcurrentUpdateError as error:
            raise EngineFailed(
                f"{stack}: another run holds this stack's lock - one run at a time. Wait for it, "
                f"or if it is gone: pulumi cancel -s {stack}"
            ) from error
        except auto_errors.CommandError as error:
            reason = watch.reason or _reason(error)
            raise EngineFailed(f"{stack}: {reason}") from error


def _changes(counted: Mapping[auto.OpType, int] | None) -> Changes:
    return {str(getattr(op, "value", op)): count for op, count in (counted or {}).items()}


def _lock_holder(lock: Path) -> int | None:
    try:
        content = json.loads(lock.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    same_machine = content.get("hostname") == os.uname().nodename
    return int(content["pid"]) if same_machine and "pid" in content else None


def _is_running(pid: int) -> bool:
    """Whether a process of this machine does anything any more: one that nobody has collected yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _short(urn: str) -> str:
    """`aws:ec2/vpc:Vpc home` from a URN."""
    kind, _, name = urn.rpartition("::")
    return f"{kind.rpartition('$')[2].rpartition('::')[2]} {name}"


def _reason(error: auto_errors.CommandError) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    marked = [line.removeprefix("error: ").removeprefix("stderr: error: ") for line in lines if "error:" in line]
    return "; ".join(dict.fromkeys(marked)) or (lines[-1] if lines else "the engine failed without a word")
