from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.database import Database
from tests.support.sql_waits import freeze
from tests.support.sql_work import measured

SINCE = datetime(2026, 3, 1, 11, 4, tzinfo=UTC)
FILL = """
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, finished_at, priority,
       attempt, spared_attempts, max_attempts, state,
       kind, queue, args)
select n, at, at, at, at, 0, 1, 0, 1, 'completed', 'k', 'q', jsonb_build_object('text', repeat('x', 200))
  from (select n, timestamptz '2026-03-01 00:00Z' + n * interval '1 s' as at from generate_series(1, 40000) n) made
"""


async def test_a_minute_is_found_without_reading_the_day(fresh_database: Database) -> None:
    async with fresh_database.reserve("clocked") as connection:
        await connection.execute("alter table leasehold.finished_jobs_default set (autovacuum_enabled = off)")
        await connection.execute(FILL)
        await freeze(connection, "2026-03-01 11:06:40Z")
        await connection.call("make_summaries")
        await connection.execute("begin")
        async with measured(connection) as work:
            await connection.call("write_minutes", SINCE, SINCE + timedelta(minutes=2), 0, 1)
        await connection.execute("rollback")
        (pages,) = await connection.fetch("select pg_relation_size('leasehold.finished_jobs_default') / 8192")
    assert pages[0] > 1500
    assert work.pages < 400
    assert work.seq_scans == 0


async def test_without_the_rights_of_the_owner_nothing_is_done(fresh_database: Database) -> None:
    async with fresh_database.reserve("stranger") as connection:
        await connection.execute(
            "do $$begin create role summaries_stranger; exception when duplicate_object then null; end$$;"
            "grant usage on schema leasehold to summaries_stranger; set role summaries_stranger"
        )
        assert await connection.call_value("make_summaries") == 0
        await connection.execute("reset role; drop owned by summaries_stranger; drop role summaries_stranger")
