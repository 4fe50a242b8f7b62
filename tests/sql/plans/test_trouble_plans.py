"""What the overview and the pages of failures ask for stays small beside tables full of other things, whatever Postgres
believed to be in them when it made the plan.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial

from leasehold.checks.work import OVERLOOKED
from leasehold.database import Database, ReservedConnection
from tests.sql.plans.test_plans import work_of
from tests.support.sql_jobs import pile_up
from tests.support.sql_work import UNDISTURBED, statistics
from tests.support.sql_worker import SqlWorker

TABLES = ("jobs", "job_events", "finished_jobs", "workers", "rollups", "rollup_totals", "rollup_progress")
MANY = 4000
HELD = 50
MOST = 5

ROLLUPS = """
insert into leasehold.rollup_progress select m, m, true from date_bin('1 minute', clock_timestamp(), 'epoch') m;
insert into leasehold.rollups (starts_at, seconds, queue, arrivals, starts, completed, failed, cancelled, retries, wait_seconds,
                               run_seconds, run_squares, waits, runs)
select m, 60, 'queue ' || q, 1, 1, 1, 0, 0, 0, 0.1, 0.1, 0.01, array_fill(0::bigint, array[29]), array_fill(0::bigint, array[29])
  from generate_series(0, 9) q,
       generate_series(date_bin('1 minute', clock_timestamp() - interval '2 days', 'epoch'),
                       clock_timestamp() - interval '1 minute', '1 minute') m;
insert into leasehold.rollup_totals (queue, since, arrivals, starts, completed, failed, cancelled, retries, wait_seconds,
                                     run_seconds, waits, runs)
select 'queue ' || q, clock_timestamp() - interval '3 days', 1, 1, 1, 0, 0, 0, 0.1, 0.1, array_fill(0::bigint, array[29]),
       array_fill(0::bigint, array[29])
  from generate_series(0, 9) q;
"""
"""Ten queues with two days of minutes: 28,800 rows."""

FAILURES = """
insert into leasehold.job_events (job_id, at, event, attempt, worker_id, message, detail)
select j.id, clock_timestamp() - j.id * interval '1 ms', 'attempt_failed', n, 'worker-' || j.id % 50, 'x',
       jsonb_build_object('type', 'TimeoutError', 'message', 'x', 'place', 'a.py:1 in a')
  from (select id from leasehold.jobs order by id limit 1000) j, generate_series(1, 5) n;
select leasehold.register_worker(gen_random_uuid(), 'worker-' || n, 'host', n::integer, '1.0', array['default'], array['k'],
                                 10, true)
  from generate_series(1, 500) n;
"""


async def test_stuck_keys_are_found_among_held_jobs_and_counted_where_they_are_told(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    worker = SqlWorker(database)
    await pile_up(database, HELD, "held", key="held%s")
    await worker.register(slots=HELD)
    assert len(await worker.claim(HELD)) == HELD
    await database.execute("update leasehold.jobs set claimed_at = now() - interval '1 hour'")
    await pile_up(database, MANY, "plain")
    await pile_up(database, MANY, "keyed", key="own%s")
    for key in ("held1", "held2"):
        await pile_up(database, MANY, "behind", key=key)
    for key in range(3, HELD):
        await pile_up(database, 100, "behind", key=f"held{key}")
    async for reserved in believing(database):
        work = await work_of(reserved, partial(reserved.call, "list_stuck_keys", 300.0, MOST))
        # Each held key is looked for once, and five of them are counted, up to 1000 each.
        assert work.seq_scans == 0
        assert work.entries < 2 * HELD + MOST * 1000 + HELD
        assert work.jobs_fetched < HELD * 3 + 2 * 1000 + MOST * 100 + 100


async def test_the_rates_of_an_hour_read_no_more_than_an_hour_of_the_books(fresh_database: Database) -> None:
    await fresh_database.execute(UNDISTURBED)
    await fresh_database.execute(ROLLUPS)
    async for reserved in believing(fresh_database):
        await reserved.execute("set leasehold.small_table = 1")
        pages = {
            name: (await work_of(reserved, partial(reserved.call, name))).pages
            for name in ("measure_hour", "list_slow_queues")
        }
        # A row is a page at worst: ten queues with 60 minutes each, and with 130.
        assert pages["measure_hour"] < 10 * 60 + 400
        assert pages["list_slow_queues"] < 10 * 130 + 400


async def test_a_group_of_failures_looks_once_at_each_job_and_once_at_the_workers(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    await pile_up(database, MANY, "k")
    await database.execute(FAILURES)
    async for reserved in believing(database):
        (group,) = await reserved.call("list_failure_groups")
        work = await work_of(reserved, partial(listed, reserved, group["fingerprint"]))
        found = await listed(reserved, group["fingerprint"])
        assert (group["failures"], len(found)) == (2000, 200)
        assert work.seq_scans == 0
        assert work.jobs_fetched <= 1000
        # 2000 events, 400 jobs through the index, and the workers once; not the workers for each of 200 failures.
        assert work.pages < 2 * 2000 + 8 * 400 + 400


async def test_who_looks_for_overlooked_jobs_reads_the_heads_of_lines_and_not_the_lines(
    fresh_database: Database,
) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    for kind in ("a", "b"):
        await pile_up(database, MANY, kind)
    async for reserved in believing(database):
        work = await work_of(reserved, partial(reserved.fetch, OVERLOOKED, 0.0))
        assert (work.seq_scans, work.jobs_fetched < 100) == (0, True)


async def believing(database: Database) -> AsyncGenerator[ReservedConnection]:
    """A new connection for each of what Postgres may know of the tables."""
    for script in statistics(*TABLES).values():
        await database.execute(script, timeout=120.0)
        async with database.reserve("measured") as reserved:
            yield reserved


async def listed(reserved: ReservedConnection, fingerprint: str) -> list[object]:
    """The newest failures of a group."""
    return [*await reserved.call("list_group_failures", fingerprint, page_size=200)]
