from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from leasehold.capacity.forecast import slots_now
from leasehold.client import Client
from leasehold.database import Database, ReservedConnection
from leasehold.errors import BadInput
from tests.support.sql_books import finish
from tests.support.sql_jobs import pile_up
from tests.support.sql_limits import limit
from tests.support.sql_waits import freeze


@pytest.fixture
async def connection(database: Database) -> AsyncGenerator[ReservedConnection]:
    """At noon; a job takes six seconds, and nothing is to be done."""
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 11:40Z", 5, run=6.0)
        await freeze(connection, "2026-03-01 12:00Z")
        yield connection


async def desired(connection: ReservedConnection, **named: object) -> object:
    given = "".join(f", {name} => {value}" for name, value in named.items())
    (row,) = await connection.fetch(f"select leasehold.desired_workers('q'{given})")
    return row[0]


async def backlog(connection: ReservedConnection, jobs: int) -> None:
    """So many, which came long ago."""
    await pile_up(connection, jobs, queue="q")
    await connection.execute("update leasehold.jobs set created_at = created_at - interval '1 day'")


async def test_none_where_nothing_is_to_be_done(connection: ReservedConnection) -> None:
    assert await desired(connection) == 0
    assert await desired(connection, min_workers=2) == 2


@pytest.mark.parametrize(
    ("jobs", "wait", "workers"), [(1, "30 s", 1), (150, "30 s", 10), (150, "5 min", 1), (150, "1 s", 50)]
)
async def test_enough_to_start_the_backlog_in_time_and_no_more_slots_than_jobs(
    connection: ReservedConnection, jobs: int, wait: str, workers: int
) -> None:
    await backlog(connection, jobs)
    assert await desired(connection, target_wait=f"'{wait}'") == workers


async def test_enough_to_keep_up_with_arrivals(connection: ReservedConnection) -> None:
    await pile_up(connection, 1000, queue="q")
    await connection.execute(
        "delete from leasehold.jobs where id % 100 <> 0; update leasehold.jobs set state = 'scheduled'"
    )
    assert await desired(connection) == 1
    await pile_up(connection, 3000, queue="q")
    await connection.execute("update leasehold.jobs set state = 'scheduled'")
    assert 10 < int(str(await desired(connection))) < 120


async def test_it_agrees_with_the_forecast(connection: ReservedConnection) -> None:
    for jobs in (1, 40, 700):
        await pile_up(connection, jobs, queue="q")
        for wait in (1.0, 30.0, 600.0):
            plan = await Client(connection).capacity.get("q", target_wait=wait)
            assert plan is not None
            assert plan.capacity.load is not None
            assert plan.desired_workers == -(-slots_now(plan.capacity.load, wait) // 3)


async def test_a_little_less_than_there_are_is_not_asked_for(connection: ReservedConnection) -> None:
    await backlog(connection, 150)
    assert [await desired(connection, current_workers=n) for n in (9, 10, 11, 12)] == [10, 10, 11, 10]
    assert await desired(connection, current_workers=20, hysteresis=0.5) == 20


async def test_bounds_slots_and_the_limit_of_the_queue_are_kept(
    connection: ReservedConnection, database: Database
) -> None:
    await backlog(connection, 150)
    assert await desired(connection, max_workers=4) == 4
    assert await desired(connection, slots=30) == 1
    await limit(database, 6, queue="q")
    assert await desired(connection) == 2


async def test_where_nobody_knows_how_long_a_job_takes_one_is_asked_for_to_find_out(
    connection: ReservedConnection,
) -> None:
    await pile_up(connection, 1000, queue="new")
    assert await connection.call_value("desired_workers", "new") == 1
    assert await connection.call_value("desired_workers", "nobody") == 0


async def test_what_is_out_of_range_is_refused(connection: ReservedConnection) -> None:
    cases: list[dict[str, object]] = [
        {"target_wait": "'0 s'"},
        {"min_workers": -1},
        {"min_workers": 5, "max_workers": 4},
        {"slots": 0},
        {"hysteresis": 1},
        {"current_workers": -1},
        {"target_wait": "null"},
        {"max_workers": "null"},
    ]
    for named in cases:
        with pytest.raises(BadInput, match="target_wait must be above 0"):
            await desired(connection, **named)
