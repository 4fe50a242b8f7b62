from __future__ import annotations

import json
from typing import Any, cast

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseholdError
from tests.support.waiting import eventually

SETTINGS = "select current_setting('transaction_read_only'), current_user, current_setting('search_path')"


async def read(database: Database, query: str, most: int = 100) -> list[object]:
    return [json.loads(row[0]) for row in await database.call("read_schedule_rows", query, most)]


async def test_each_row_is_an_object_and_they_keep_their_order(database: Database) -> None:
    rows = await read(database, "select n as shop, null as nothing from generate_series(3, 1, -1) n -- backwards")
    assert rows == [{"shop": n, "nothing": None} for n in (3, 2, 1)]
    assert await read(database, "select 1 where false") == []


async def test_what_would_change_anything_or_fails_is_refused(database: Database) -> None:
    for query in [
        "select nextval('leasehold.jobs_id_seq')",
        "select leasehold.enqueue_job('echo')",
        "select set_config('transaction_read_only', 'off', false)",
        "select * from leasehold.queues for update",
        "select 1; drop table leasehold.jobs",
        "select 1) q; drop table leasehold.jobs; select (1",
        "select 1 / (n - 2) from generate_series(1, 3) n",
    ]:
        before = await database.fetch("select last_value, is_called from leasehold.jobs_id_seq")
        with pytest.raises(BadInput, match=r"the query failed: |must be one SELECT"):
            await read(database, query)
        assert await database.fetch("select count(*) from leasehold.jobs") == [(0,)]
        assert await database.fetch("select last_value, is_called from leasehold.jobs_id_seq") == before


async def test_no_large_object_stays(database: Database) -> None:
    # Postgres refuses to make one in a transaction that is read only from 16 on; 15 makes it, and it is undone.
    [(version,)] = await database.fetch("select current_setting('server_version_num')::int")
    before = await database.fetch("select count(*) from pg_largeobject_metadata")
    if version >= 160_000:
        with pytest.raises(BadInput, match=r"the query failed: .*read-only transaction"):
            await read(database, "select lo_create(0)")
    else:
        [row] = await read(database, "select lo_create(0) as made, lo_from_bytea(0, 'x') as full")
        assert isinstance(row, dict)
        made = [int(number) for number in cast("dict[str, Any]", row).values()]
        assert len(made) == 2
        assert await database.fetch("select oid from pg_largeobject_metadata where oid = any ($1)", made) == []
        assert await database.fetch("select loid from pg_largeobject where loid = any ($1)", made) == []
    assert await database.fetch("select count(*) from pg_largeobject_metadata") == before


async def test_what_it_sets_is_undone(database: Database) -> None:
    async with database.reserve("one session") as connection:
        before = await connection.fetch(SETTINGS)
        query = "select set_config('search_path', 'nowhere', false), set_config('role', 'none', false)"
        await connection.call("read_schedule_rows", query)
        assert await connection.fetch(SETTINGS) == before
        assert before[0][0] == "off"


async def test_afterwards_the_transaction_can_write(database: Database) -> None:
    async with database.transaction() as session:
        await session.call("read_schedule_rows", "select 1")
        await session.call("enqueue_job", "echo")
    assert await database.fetch("select count(*) from leasehold.jobs") == [(1,)]


async def test_names_are_looked_up_as_in_any_session(fresh_database: Database) -> None:
    await fresh_database.execute("create table public.shops (id int); insert into public.shops values (7)")
    assert await read(fresh_database, "select id from shops") == [{"id": 7}]


async def test_more_rows_than_allowed_are_refused(database: Database) -> None:
    assert len(await read(database, "select generate_series(1, 3)", 3)) == 3
    with pytest.raises(BadInput, match="the query has more than 3 rows"):
        await read(database, "select generate_series(1, 4)", 3)


async def test_too_much_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="more than 64 MB"):
        await read(database, "select repeat('x', 30000000) as a, n from generate_series(1, 3) n, pg_sleep(0)")


CANCEL = """
select pg_cancel_backend(pid) from pg_stat_activity
 where datname = current_database() and application_name = 'leasehold impatient' and wait_event = 'PgSleep'
"""


async def test_running_out_of_time_is_an_error_of_the_query(database: Database) -> None:
    """It is cancelled while it runs, which is what `statement_timeout` does."""

    async def run_out_of_time() -> None:
        async with database.reserve("impatient") as connection:
            with pytest.raises(BadInput, match="the query was cancelled"):
                await connection.call("read_schedule_rows", "select pg_sleep(600)")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_out_of_time)
        await eventually(lambda: database.fetch(CANCEL))


async def test_it_runs_as_the_role_that_the_database_names(fresh_database: Database) -> None:
    role = f"reader_{(await fresh_database.fetch('select current_database()'))[0][0]}"[:60]
    await fresh_database.execute(f'create role "{role}"; create table public.secrets as select 1 as n')
    await fresh_database.execute("create table public.shops as select 1 as n")
    await fresh_database.execute(f'grant select on public.shops to "{role}"')
    try:
        async with fresh_database.reserve("as a reader") as connection:
            await connection.execute(f"set leasehold.query_role = '{role}'")
            assert await connection.call("read_schedule_rows", "select * from public.shops") == [('{"n": 1}',)]
            with pytest.raises(BadInput, match="permission denied for table secrets"):
                await connection.call("read_schedule_rows", "select * from public.secrets")
            [(me,)] = await connection.fetch("select current_user = session_user")
            assert me
    finally:
        await fresh_database.execute(f'drop owned by "{role}"; drop role "{role}"')


async def test_an_unknown_role_is_an_error_of_the_query(database: Database) -> None:
    async with database.reserve("as nobody") as connection:
        await connection.execute("set leasehold.query_role = 'nobody at all'")
        with pytest.raises(LeaseholdError, match="nobody at all"):
            await connection.call("read_schedule_rows", "select 1")


async def test_only_planning_runs_nothing(database: Database) -> None:
    assert (
        await database.call("read_schedule_rows", "select 1 / (n - n) from generate_series(1, 2) n", only_plan=True)
        == []
    )
