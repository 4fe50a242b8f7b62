from __future__ import annotations

from leasehold.database import Database
from leasehold.database.migrations import migrate
from leasehold.database.migrations.indexes import find_gone
from leasehold.database.migrations.state import describe_schema, read_description

HALF_MADE = "update pg_index set indisvalid = false where indexrelid = 'leasehold.jobs_pending'::regclass"


async def test_indexes_that_are_gone_or_half_made_are_made_again(
    fresh_database: Database, fresh_database_url: str
) -> None:
    said: list[str] = []
    await fresh_database.execute(f"drop index leasehold.jobs_held; {HALF_MADE}")
    planned = await migrate(fresh_database_url, dry_run=True)
    assert (planned.indexes, planned.is_empty) == (("jobs_held", "jobs_pending"), False)
    report = await migrate(fresh_database_url, say=said.append)
    assert (report.indexes, report.is_empty) == (("jobs_held", "jobs_pending"), False)
    assert said == ["index jobs_held is made again", "index jobs_pending is made again"]
    assert await describe_schema(fresh_database) == read_description()
    again = await migrate(fresh_database_url, say=said.append)
    assert (again.is_empty, len(said)) == (True, 2)


async def test_the_indexes_of_others_are_left_alone(fresh_database: Database, fresh_database_url: str) -> None:
    """One that has our name and is otherwise, too: doctor tells of it."""
    await fresh_database.execute(
        "create index theirs on leasehold.jobs (id); drop index leasehold.jobs_held; create index jobs_held on leasehold.jobs (id)"
    )
    before = await describe_schema(fresh_database)
    assert (await migrate(fresh_database_url)).is_empty
    assert await describe_schema(fresh_database) == before


async def test_those_of_partitioned_tables_are_not_made_while_others_write(fresh_database: Database) -> None:
    await fresh_database.execute("drop index leasehold.finished_jobs_key")
    assert await find_gone(fresh_database) == []
