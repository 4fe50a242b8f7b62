from __future__ import annotations

import pytest

from leasehold.database import Caller, Database
from tests.support.sql_jobs import empty
from tests.support.sql_waits import freeze, frozen

FINISH = """
insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, finished_at, priority, attempt, spared_attempts,
       max_attempts, state, kind, queue, args)
select $4 + n, at, at, at, at, 0, 1, 0, 1, 'completed', $2, 'q', '{}'
  from (select n, leasehold.clock() - make_interval(secs => n * $3::float8) as at from generate_series($1::int - 1, 0, -1) n) made
"""


async def finish(caller: Caller, count: int, kind: str = "k", seconds_apart: float = 1.0) -> None:
    """So many completed jobs, the last one just now."""
    (made,) = await caller.fetch("select count(*)::int as jobs from leasehold.finished_jobs")
    await caller.fetch(FINISH, count, kind, seconds_apart, made["jobs"])


async def rate_of(caller: Caller, queue: str, kind: str) -> float | None:
    rows = await caller.call("measure_rates", queue, kind)
    return rows[0]["per_second"] if rows else None


async def test_jobs_finished_per_second(database: Database) -> None:
    cases: list[tuple[int, float, float | None]] = [
        (0, 1.0, None),
        (1, 1.0, None),
        (2, 10.0, 0.1),
        (11, 0.5, 2.0),
        (1000, 1.0, 1.0),
        (5000, 0.001, 1000.0),
    ]
    for count, seconds_apart, rate in cases:
        await empty(database)
        async with frozen(database, "2026-03-01 12:00Z") as connection:
            await finish(connection, count, seconds_apart=seconds_apart)
            found = await rate_of(connection, "q", "k")
        assert found == (None if rate is None else pytest.approx(rate))


async def test_other_kinds_and_queues_and_what_is_long_ago_do_not_count(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await finish(connection, 101, "other", 0.01)
        await finish(connection, 11, "k", 1.0)
        assert await rate_of(connection, "q", "k") == pytest.approx(1.0)
        assert await rate_of(connection, "other", "k") is None
        await freeze(connection, "2026-03-01 12:05Z")
        assert await rate_of(connection, "q", "k") is None


async def test_the_partition_of_the_day_is_read_wherever_the_session_is(database: Database) -> None:
    async with database.reserve("elsewhere") as connection:
        await connection.execute("set timezone = 'Pacific/Kiritimati'; select leasehold.ensure_partitions()")
        [row] = await connection.fetch("select (now() at time zone 'UTC')::date::text as today")
        await freeze(connection, f"{row['today']} 12:00Z")  # it is tomorrow there
        await finish(connection, 11, seconds_apart=1.0)
        assert await rate_of(connection, "q", "k") == pytest.approx(1.0)


async def test_only_the_end_of_a_big_partition_is_read(fresh_database: Database) -> None:
    """A fresh one, since what was vacuumed away in a used one leaves room before the end."""
    async with fresh_database.reserve("clocked") as connection:
        await freeze(connection, "2026-03-01 12:00Z")
        await finish(connection, 60_000, "other", 0.001)
        await finish(connection, 100, "k", 0.001)
        await connection.execute("begin")
        read = "select pg_stat_get_xact_tuples_returned('leasehold.finished_jobs_default'::regclass)"
        before = (await connection.fetch(read))[0][0]
        assert await rate_of(connection, "q", "k") == pytest.approx(1000)
        assert (await connection.fetch(read))[0][0] - before < 40_000
        await connection.execute("rollback")


async def test_a_pause_before_the_present_work_does_not_slow_it_down(database: Database) -> None:
    async with frozen(database, "2026-03-01 11:58Z") as connection:
        await finish(connection, 50)
        await freeze(connection, "2026-03-01 12:00Z")
        await finish(connection, 21, seconds_apart=0.25)
        assert await rate_of(connection, "q", "k") == pytest.approx(4.0)


async def test_one_look_tells_of_all_kinds_that_finish_and_of_no_other(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        for count, kind, seconds_apart in [(11, "fast", 0.5), (5, "slow", 10.0), (1, "once", 1.0)]:
            await finish(connection, count, kind, seconds_apart)
        rows = await connection.call("measure_rates")
        assert [(row["queue"], row["kind"]) for row in rows] == [("q", "fast"), ("q", "slow")]
        assert [row["per_second"] for row in rows] == pytest.approx([2.0, 0.1])
        assert [row["kind"] for row in await connection.call("measure_rates", only_kind="slow")] == ["slow"]
        assert await connection.call("measure_rates", "other") == []
