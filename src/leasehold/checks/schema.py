"""The schema: its version, changes made by hand, its partitions, and whether each role may call what it should."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from leasehold.checks.verdicts import Check, advise, ok, problem

if TYPE_CHECKING:
    from leasehold.database import Database
    from leasehold.database.migrations import SchemaState
    from leasehold.database.migrations.state import Description, Drift

WANTED_DAYS_AHEAD = 2
MOST_DAYS_LATE = 2
MOST_NAMED = 5
PARTITIONED = ("finished_jobs", "job_events")

PARTITIONS = """
select partition.relname as name from pg_inherits join pg_class partition on partition.oid = inhrelid
 where inhparent in ('leasehold.finished_jobs'::regclass, 'leasehold.job_events'::regclass)
"""
TODAY = "select (now() at time zone 'UTC')::date as today"
IN_DEFAULTS = """
select (select count(*) from (select from leasehold.finished_jobs_default limit 1000) f)
     + (select count(*) from (select from leasehold.job_events_default limit 1000) e) as rows
"""


def check_schema(state: SchemaState) -> Check:
    """The schema fits this code, and its views and functions are the ones of this code."""
    from leasehold.database.migrations.state import schema_problem  # noqa: PLC0415

    trouble = schema_problem(state)
    if trouble:
        detail, _, advice = trouble.partition(": ")
        return problem("schema", detail, advice)
    if state.status == "older":
        return problem(
            "schema", f"version {state.version}, and this code has {state.expected}", "run `leasehold migrate`"
        )
    if state.differing:
        detail = f"version {state.version}, but not as in this code: {', '.join(state.differing)}"
        return problem("schema", detail, "run `leasehold migrate`, unless another version of leasehold is in use, too")
    return ok("schema", f"version {state.version}")


async def check_drift(database: Database) -> Check:
    """Nobody has changed an object of the schema by hand."""
    from leasehold.database.migrations.state import compare_descriptions, describe_schema, read_description  # noqa: PLC0415

    committed = read_description()
    return judge_drift(compare_descriptions(committed, await describe_schema(database)), committed)


def judge_drift(drift: Drift, committed: Description) -> Check:
    """Names what was changed and how to repair it."""
    groups = {"missing": drift.missing, "changed": drift.changed, "added": drift.meddling}
    found = [f"{what}: {_name(objects)}" for what, objects in groups.items() if objects]
    if found:
        return problem("drift", "; ".join(found), _how_to_mend(drift, committed))
    if drift.extra:
        detail = f"nothing changed; added by hand: {_name(drift.extra)}"
        return advise("drift", detail, "keep your own objects in a schema of your own")
    return ok("drift", "every object is as this code makes it")


def _how_to_mend(drift: Drift, committed: Description) -> str:
    """`leasehold migrate` makes most indexes again that are missing; for other indexes the statements."""
    from leasehold.database.migrations.indexes import definition_of, is_made_again  # noqa: PLC0415

    again = [name for name in drift.missing if is_made_again(name, committed)]
    statements = [text for name in drift.missing if name not in again and (text := definition_of(name, committed))]
    for name in drift.changed:
        if text := definition_of(name, committed):
            statements += [f"DROP INDEX leasehold.{name.rpartition('.')[2]}", text]
    parts = ["run `leasehold migrate`, which makes indexes again"] if again else []
    parts += [f"as the owner of the schema run: {'; '.join(statements)};"] if statements else []
    others = [*drift.missing, *drift.changed, *drift.meddling]
    if any(not definition_of(name, committed) for name in others):
        parts.append("undo it; sql/schema.txt says how it should be, and the files in sql/ how it is made")
    return " · ".join(parts)


def _name(objects: Sequence[str]) -> str:
    more = f" and {len(objects) - MOST_NAMED} more" if len(objects) > MOST_NAMED else ""
    return ", ".join(name.partition("(")[0] for name in objects[:MOST_NAMED]) + more


async def check_partitions(database: Database, retention_days: int) -> Check:
    """Partitions exist for the coming days, old ones are dropped, and nothing has gone where there was none."""
    names = {row["name"] for row in await database.fetch(PARTITIONS)}
    [row] = await database.fetch(TODAY)
    [stray] = await database.fetch(IN_DEFAULTS)
    kept = days_kept(names, row["today"])
    return judge_partitions(days_with_partitions(names, row["today"]), stray["rows"], kept - retention_days)


def days_with_partitions(names: Collection[str], today: date) -> int:
    """Days from today on, without a gap, that have a partition of both tables."""
    days = 0
    while all(f"{parent}_{today + timedelta(days=days):%Y%m%d}" in names for parent in PARTITIONED):
        days += 1
    return days


def days_kept(names: Collection[str], today: date) -> int:
    """How many days old the oldest partition is; 0 where there is none of a former day."""
    days = [name.rpartition("_")[2] for name in names]
    made = [datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC).date() for day in days if day.isdigit()]
    return max(((today - day).days for day in made), default=0)


def judge_partitions(days: int, stray: int, days_late: int = 0) -> Check:
    """Enough partitions ahead, none missed in the past, none kept for much longer than jobs are."""
    detail = f"made for {days} days from today on"
    if days < WANTED_DAYS_AHEAD:
        return problem("partitions", detail, "is a reaper running? By hand: leasehold audit --repair")
    if days_late > MOST_DAYS_LATE:
        detail += f"; the oldest one should have been dropped {days_late} days ago"
        return problem(
            "partitions", detail, "is a reaper running, with the LEASEHOLD_RETENTION_DAYS that are set here?"
        )
    if stray:
        some = f"{stray} or more" if stray >= 1000 else str(stray)
        detail += f"; {some} rows are in a default partition, for a day that had none"
        return advise("partitions", detail, "the janitor removes them when they are old; let a reaper always run")
    return ok("partitions", detail)
