"""Every type of the aws stand-in, through its whole life, by the real engine: one result for each step of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from local.aws.plugin import registry
from local.aws.plugin.compare import same
from local.aws.plugin.schema import ResourceSchema

from tests.local.aws import engine_stack
from tests.local.aws.engine_life import Life
from tests.local.aws.life_cycles import ROWS
from tests.local.aws.life_cycles.cycle import CHANGED_TAGS, Drift, Lacks, LifeCycle, Through
from tests.local.aws.server_process import ServerProcess

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

Test = Callable[..., Any]


def each(*, where: Callable[[LifeCycle], bool] = lambda row: True) -> Callable[[Test], Test]:
    """One result for each row that takes the step."""
    rows = [row for row in ROWS if where(row)]
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def drifts(row: LifeCycle) -> bool:
    return isinstance(row.drift, Drift)


def is_imported(row: LifeCycle) -> bool:
    return callable(row.import_id)


@pytest.fixture(scope="module")
def life(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Life:
    return Life(tmp_path_factory.mktemp("engine"), server)


# ---- the table itself


def test_every_type_of_the_stand_in_has_a_row() -> None:
    assert {row.kind for row in ROWS} == set(registry.types())


@pytest.mark.parametrize("step", ["changed", "replaced", "drift", "import_id"])
@pytest.mark.parametrize("kind", registry.types())
def test_every_type_takes_every_step_or_says_why_not(kind: str, step: str) -> None:
    said = [getattr(row, step) for row in ROWS if row.kind == kind]
    taken = [value for value in said if value is not None and not isinstance(value, Lacks)]
    reasons = [value.reason for value in said if isinstance(value, Lacks)]
    assert bool(taken) != bool(reasons), f"{kind} {step}: either a row takes it, or one says why none can"
    assert all(len(reason.split()) > 5 for reason in reasons), f"{kind} {step}: a reason is a sentence: {reasons}"


@each(where=lambda row: isinstance(row.changed, Lacks))
def test_a_type_that_lacks_a_change_in_place_has_only_inputs_that_replace(row: LifeCycle) -> None:
    schema = ResourceSchema.of(row.kind)
    assert not schema.takes_tags, "tags change in place"
    assert set(schema.inputs) <= schema.force_new, "so does every input that does not force a new one"


def untrue(row: LifeCycle, foretold: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Outputs that a preview foretold otherwise than they came: what it did not know is no untruth."""
    # A name that is made up is made up again; what is only recorded shows once it is.
    skipped = {"__simulated", (ResourceSchema.of(row.kind).autoname or {}).get("property")}
    return {
        name: (value, made.get(name))
        for name, value in foretold.items()
        # Inside a block AWS may fill more in.
        if name not in skipped and UNKNOWN not in str(value) and not same(value, made.get(name))
    }


@each(where=lambda row: isinstance(row.replaced, Through))
def test_what_a_row_is_replaced_through_is_itself_replaced(row: LifeCycle) -> None:
    assert isinstance(row.replaced, Through)
    (through,) = [other for other in ROWS if other.name == row.replaced.row]
    assert through.is_replaced


# ---- create


@each()
def test_it_is_created(life: Life, row: LifeCycle) -> None:
    outcome = life.run("created")[row.name]
    assert outcome.operation == "create", outcome


@each()
def test_a_preview_foretells_creation_and_nothing_untrue(life: Life, row: LifeCycle) -> None:
    foretold = life.run("foretold")[row.name]
    assert foretold.operation == "create", foretold
    made = life.run("created")[row.name].outputs
    missing = set(made) - set(foretold.outputs) - {"__simulated", "tags"}
    assert not missing, f"outputs that the preview did not know of: {missing}"
    assert not untrue(row, foretold.outputs, made), "foretold and not so"


@each()
def test_then_nothing_is_left_to_do(life: Life, row: LifeCycle) -> None:
    outcome = life.run("created_preview")[row.name]
    assert outcome.operation == "same", outcome


@each()
def test_and_the_world_is_as_the_state_says(life: Life, row: LifeCycle) -> None:
    outcome = life.run("created_refresh")[row.name]
    assert outcome.operation == "same", outcome


# ---- update in place


@each()
def test_it_changes_in_place_and_alone(life: Life, row: LifeCycle) -> None:
    outcome = life.run("changed")[row.name]
    assert outcome.operation == ("update" if row.changes else "same"), outcome


@each()
def test_a_preview_foretells_the_change(life: Life, row: LifeCycle) -> None:
    foretold, made = life.run("change_foretold")[row.name], life.run("changed")[row.name]
    assert foretold.operation == made.operation, f"{foretold} / {made}"
    assert not untrue(row, foretold.outputs, made.outputs), "foretold and not so"


@each()
def test_after_a_change_nothing_is_left_to_do(life: Life, row: LifeCycle) -> None:
    outcome = life.run("changed_preview")[row.name]
    assert outcome.operation == "same", outcome


@each()
def test_after_a_change_the_world_is_as_the_state_says(life: Life, row: LifeCycle) -> None:
    outcome = life.run("changed_refresh")[row.name]
    assert outcome.operation == "same", outcome


# ---- secrets: every change in place is made by secret values


@each(where=lambda row: row.changes)
def test_what_is_given_as_a_secret_is_marked_as_one_in_the_state(life: Life, row: LifeCycle) -> None:
    life.run("changed")
    resource = engine_stack.resources(life.states["changed"])[row.name]
    given = {name for name, value in resource["inputs"].items() if engine_stack.is_secret(value)}
    assert given, "the program gave secrets"
    told = {name for name, value in resource["outputs"].items() if engine_stack.is_secret(value)}
    assert given <= told, f"in clear: {given - told}"
    assert ("tags" in given) is ("tagsAll" in told), "all tags hold the own ones"


def test_no_secret_is_anywhere_in_clear(life: Life) -> None:
    life.run("deleted_refresh")
    secret = CHANGED_TAGS["use"]
    assert secret not in life.log, "the engine's log"
    leaks = [path for path in life.backend.rglob("*") if path.is_file() and secret in path.read_text(errors="replace")]
    assert not leaks, "the state on disk"


# ---- drift


@each()
def test_a_refresh_sees_drift_and_only_drift(life: Life, row: LifeCycle) -> None:
    outcome = life.run("drift_seen")[row.name]
    expected = "same"
    if isinstance(row.drift, Drift):
        expected = "delete" if row.drift.repair == "create" else "update"
    assert outcome.operation == expected, outcome


@each()
def test_the_next_up_puts_drift_right(life: Life, row: LifeCycle) -> None:
    outcome = life.run("drift_mended")[row.name]
    assert outcome.operation == (row.drift.repair if isinstance(row.drift, Drift) else "same"), outcome


@each()
def test_after_the_repair_the_world_is_as_the_state_says(life: Life, row: LifeCycle) -> None:
    outcome = life.run("mended_refresh")[row.name]
    assert outcome.operation == "same", outcome


# ---- import


@each(where=is_imported)
def test_it_is_imported_as_its_program_describes_it(life: Life, row: LifeCycle) -> None:
    outcome = life.run("imported")[row.name]
    assert outcome.operation == "import", outcome


@each(where=is_imported)
def test_after_the_import_nothing_is_left_to_do(life: Life, row: LifeCycle) -> None:
    outcome = life.run("imported_preview")[row.name]
    assert outcome.operation == "same", outcome


# ---- replacement


@each(where=lambda row: row.is_replaced)
def test_it_is_replaced(life: Life, row: LifeCycle) -> None:
    outcome = life.run("replaced")[row.name]
    assert outcome.operation == "replace", outcome


@each()
def test_after_a_replacement_nothing_is_left_to_do(life: Life, row: LifeCycle) -> None:
    outcome = life.run("replaced_preview")[row.name]
    assert outcome.operation == "same", outcome


@each()
def test_after_a_replacement_it_is_there(life: Life, row: LifeCycle) -> None:
    outcome = life.run("replaced_refresh")[row.name]
    assert outcome.operation == "same", outcome


# ---- delete


@each()
def test_it_is_deleted(life: Life, row: LifeCycle) -> None:
    outcome = life.run("deleted")[row.name]
    assert outcome.operation == "delete", outcome


@each()
def test_deleting_what_is_gone_is_no_error(life: Life, row: LifeCycle) -> None:
    outcome = life.run("deleted_again")[row.name]
    assert outcome.operation == "delete", outcome


@each()
def test_a_refresh_says_that_it_is_gone(life: Life, row: LifeCycle) -> None:
    outcome = life.run("deleted_refresh")[row.name]
    assert outcome.operation == "delete", outcome
