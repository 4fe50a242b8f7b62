from __future__ import annotations

from datetime import date

import pytest

from leasehold.checks.schema import (
    check_drift,
    check_partitions,
    check_schema,
    days_kept,
    days_with_partitions,
    judge_drift,
    judge_partitions,
)
from leasehold.checks.verdicts import Check
from leasehold.database import Database
from leasehold.database.migrations import SchemaState
from leasehold.database.migrations.state import compare_descriptions, describe_schema, schema_problem

TODAY = date(2030, 12, 31)


async def drift_after(database: Database, change: str) -> Check:
    before = await describe_schema(database)
    await database.execute(change)
    return judge_drift(compare_descriptions(before, await describe_schema(database)), before)


def names(*days: str) -> set[str]:
    return {f"{parent}_{day}" for parent in ("finished_jobs", "job_events") for day in days}


def test_days_count_from_today_until_the_first_gap() -> None:
    assert days_with_partitions(names("20301230"), TODAY) == 0
    assert days_with_partitions(names("20301231", "20310101", "20310103"), TODAY) == 2
    assert days_with_partitions(names("20301231") | {"finished_jobs_20310101"}, TODAY) == 1


def test_partitions_that_run_out_are_a_problem() -> None:
    assert judge_partitions(1, 0).verdict == "problem"
    assert judge_partitions(2, 0).verdict == "ok"


def test_a_partition_that_nobody_drops_is_a_problem() -> None:
    assert days_kept(names("20301210", "20301231"), TODAY) == 21
    assert days_kept({"finished_jobs_default"}, TODAY) == 0
    assert judge_partitions(2, 0, days_late=2).verdict == "ok"
    check = judge_partitions(2, 0, days_late=7)
    assert (check.verdict, "should have been dropped 7 days ago" in check.detail) == ("problem", True)


async def test_rows_in_a_default_partition_are_told(database: Database) -> None:
    await database.fetch("select leasehold.ensure_partitions()")
    assert (await check_partitions(database, 14)).verdict == "ok"
    await database.execute(
        "insert into leasehold.job_events (job_id, at, event, attempt) values (1, '2001-01-01', 'x', 1)"
    )
    check = await check_partitions(database, 14)
    assert (check.verdict, "1 rows are in a default partition" in check.detail) == ("advice", True)


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        (SchemaState(status="missing", version=0, expected=2), "problem"),
        (SchemaState(status="older", version=1, expected=2), "problem"),
        (SchemaState(status="same", version=2, expected=2), "ok"),
        (SchemaState(status="same", version=2, expected=2, differing=("function wake",)), "problem"),
        (SchemaState(status="newer", version=3, expected=2), "ok"),
        (SchemaState(status="newer", version=3, expected=2, breaking=True), "problem"),
    ],
)
def test_the_schema_is_judged_by_its_version_and_what_differs(state: SchemaState, verdict: str) -> None:
    check = check_schema(state)
    assert check.verdict == verdict
    assert (check.advice is None) == (verdict == "ok")


def test_a_newer_schema_that_breaks_nothing_can_be_worked_with() -> None:
    assert schema_problem(SchemaState(status="newer", version=3, expected=2)) is None


# One after the other, in one database.
CHANGES = [
    ("select 1", "ok", "every object"),
    ("alter function leasehold.clock() immutable", "problem", "changed: function clock"),
    ("drop function leasehold.wake(text)", "problem", "missing: function wake"),
    ("drop index leasehold.jobs_held", "problem", "missing: index jobs.jobs_held"),
    ("alter table leasehold.jobs alter priority drop not null", "problem", "changed: column jobs.priority"),
    (
        "create trigger mine before update on leasehold.jobs"
        " for each row execute function suppress_redundant_updates_trigger()",
        "problem",
        "added: trigger jobs.mine",
    ),
    ("create index mine on leasehold.jobs (created_at)", "advice", "added by hand: index jobs.mine"),
]


async def test_whoever_tampers_is_found_out(database: Database) -> None:
    for change, verdict, detail in CHANGES:
        check = await drift_after(database, change)
        assert (change, check.verdict) == (change, verdict)
        assert detail in check.detail


async def test_for_indexes_the_statements_that_mend_them_are_told(database: Database) -> None:
    check = await drift_after(database, "drop index leasehold.finished_jobs_key")
    assert check.advice is not None
    begin, statement = check.advice.split("run: ")
    assert begin == "as the owner of the schema "
    assert statement.startswith("CREATE INDEX finished_jobs_key ON leasehold.finished_jobs USING btree ")
    await database.execute("create index finished_jobs_key on leasehold.finished_jobs (id)")
    check = await check_drift(database)
    assert check.advice == f"as the owner of the schema run: DROP INDEX leasehold.finished_jobs_key; {statement}"
    await database.execute("drop index leasehold.finished_jobs_key")
    await database.execute(statement)
    assert (await check_drift(database)).verdict == "ok"


async def test_indexes_that_migrate_makes_again_need_no_statement(database: Database) -> None:
    check = await drift_after(database, "drop index leasehold.jobs_held")
    assert check.advice == "run `leasehold migrate`, which makes indexes again"


async def test_of_other_changes_only_the_right_form_is_told(database: Database) -> None:
    check = await drift_after(database, "alter table leasehold.jobs alter priority drop not null")
    assert check.advice is not None
    assert check.advice.startswith("undo it; sql/schema.txt")


async def test_of_many_changes_five_are_named(database: Database) -> None:
    check = await drift_after(database, "drop table leasehold.job_progress")
    assert check.detail.startswith("missing: column job_progress.")
    assert " more" in check.detail
