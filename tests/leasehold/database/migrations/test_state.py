from __future__ import annotations

import pytest

from leasehold.database import Database, open_database
from leasehold.database.migrations.state import (
    Drift,
    compare_descriptions,
    describe_schema,
    parse_description,
    read_description,
    write_description,
)

MANY = 10
HINT = "after a change of the schema: python tools/schema_description.py"


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """What the tests here do to the schema, no other test shall see."""
    return fresh_database_url


async def drift(database: Database, *changes: str) -> Drift:
    before = await describe_schema(database)
    for change in changes:
        await database.execute(change)
    return compare_descriptions(before, await describe_schema(database))


async def test_a_migrated_database_is_as_the_committed_description_says(database: Database) -> None:
    assert compare_descriptions(read_description(), await describe_schema(database)) == Drift(), HINT


async def test_the_partitions_of_days_make_no_difference(database: Database) -> None:
    assert await drift(database, "select leasehold.ensure_partitions()") == Drift()


async def test_a_database_without_the_schema_lacks_everything(empty_database_url: str) -> None:
    async with open_database(empty_database_url) as database:
        found = compare_descriptions(read_description(), await describe_schema(database))
    assert len(found.missing) == len(read_description()) > MANY


# One after the other, in one database.
CHANGES: list[tuple[str, Drift]] = [
    (
        "drop index leasehold.jobs_held; create index jobs_held on leasehold.jobs (kind)",
        Drift(changed=("index jobs.jobs_held",)),
    ),
    ("drop index leasehold.jobs_held", Drift(missing=("index jobs.jobs_held",))),
    ("alter table leasehold.jobs alter max_attempts set default 3", Drift(changed=("column jobs.max_attempts",))),
    ("alter table leasehold.jobs add mine text", Drift(extra=("column jobs.mine",))),
    ("alter table leasehold.jobs set (fillfactor = 100)", Drift(changed=("table jobs",))),
    ("alter table leasehold.jobs enable row level security", Drift(changed=("table jobs",))),
    (
        "alter table leasehold.jobs drop constraint jobs_state_is_known",
        Drift(missing=("constraint jobs.jobs_state_is_known",)),
    ),
    ("alter function leasehold.wake(text) security definer", Drift(changed=("function wake(queue text)",))),
    ("create function leasehold.mine() returns int language sql as 'select 1'", Drift(extra=("function mine()",))),
    (
        "create or replace function leasehold.clock() returns timestamptz language sql stable as 'select now()'",
        Drift(changed=("function clock()",)),
    ),
]


async def test_whatever_was_tampered_with_is_named(database: Database) -> None:
    found = [(change, await drift(database, change)) for change, _ in CHANGES]
    assert found == CHANGES


async def test_another_body_of_a_view_is_named(database: Database) -> None:
    [row] = await database.fetch("select pg_get_viewdef('leasehold.all_jobs'::regclass) as text")
    change = f"create or replace view leasehold.all_jobs as {row['text'].rstrip().rstrip(';')} limit 5"
    assert await drift(database, change) == Drift(changed=("view all_jobs",))


async def test_a_trigger_on_our_tables_counts_as_meddling(database: Database) -> None:
    found = await drift(
        database,
        "create function public.mine() returns trigger language plpgsql as 'begin return new; end'",
        "create trigger mine before update on leasehold.jobs for each row execute function public.mine()",
        "create index mine on leasehold.jobs (created_at)",
    )
    assert found.extra == ("index jobs.mine", "trigger jobs.mine")
    assert found.meddling == ("trigger jobs.mine",)


def test_what_is_written_can_be_read() -> None:
    description = {"index a.b": "create index on a: b", "function f(x text)": "returns int"}
    assert parse_description(write_description(description)) == description
