from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from leasehold.capacity.forecast import slots_now
from leasehold.client import Client
from leasehold.database import Database, Lane
from leasehold.errors import BadInput
from tests.support.sql_books import finish
from tests.support.sql_jobs import pile_up
from tests.support.sql_limits import limit
from tests.support.sql_waits import freeze


@pytest.fixture
async def lane(database: Database) -> AsyncGenerator[Lane]:
    """At noon; a job takes six seconds, and nothing is to be done."""
    async with database.lane("clocked") as lane:
        await finish(lane, "2026-03-01 11:40Z", 5, run=6.0)
        await freeze(lane, "2026-03-01 12:00Z")
        yield lane


async def desired(lane: Lane, **named: object) -> object:
    given = "".join(f", {name} => {value}" for name, value in named.items())
    (row,) = await lane.fetch(f"select leasehold.desired_workers('q'{given})")
    return row[0]


async def backlog(lane: Lane, jobs: int) -> None:
    """So many, which came long ago."""
    await pile_up(lane, jobs, queue="q")
    await lane.execute("update leasehold.jobs set created_at = created_at - interval '1 day'")


async def test_none_where_nothing_is_to_be_done(lane: Lane) -> None:
    assert await desired(lane) == 0
    assert await desired(lane, min_workers=2) == 2


@pytest.mark.parametrize(
    ("jobs", "wait", "workers"), [(1, "30 s", 1), (150, "30 s", 10), (150, "5 min", 1), (150, "1 s", 50)]
)
async def test_enough_to_start_the_backlog_in_time_and_no_more_slots_than_jobs(
    lane: Lane, jobs: int, wait: str, workers: int
) -> None:
    await backlog(lane, jobs)
    assert await desired(lane, target_wait=f"'{wait}'") == workers


async def test_enough_to_keep_up_with_arrivals(lane: Lane) -> None:
    await pile_up(lane, 1000, queue="q")
    await lane.execute("delete from leasehold.jobs where id % 100 <> 0; update leasehold.jobs set state = 'scheduled'")
    assert await desired(lane) == 1
    await pile_up(lane, 3000, queue="q")
    await lane.execute("update leasehold.jobs set state = 'scheduled'")
    assert 10 < int(str(await desired(lane))) < 120


async def test_it_agrees_with_the_forecast(lane: Lane) -> None:
    for jobs in (1, 40, 700):
        await pile_up(lane, jobs, queue="q")
        for wait in (1.0, 30.0, 600.0):
            plan = await Client(lane).capacity.get("q", target_wait=wait)
            assert plan is not None
            assert plan.capacity.load is not None
            assert plan.desired_workers == -(-slots_now(plan.capacity.load, wait) // 3)


async def test_a_little_less_than_there_are_is_not_asked_for(lane: Lane) -> None:
    await backlog(lane, 150)
    assert [await desired(lane, current_workers=n) for n in (9, 10, 11, 12)] == [10, 10, 11, 10]
    assert await desired(lane, current_workers=20, hysteresis=0.5) == 20


async def test_bounds_slots_and_the_limit_of_the_queue_are_kept(lane: Lane, database: Database) -> None:
    await backlog(lane, 150)
    assert await desired(lane, max_workers=4) == 4
    assert await desired(lane, slots=30) == 1
    await limit(database, 6, queue="q")
    assert await desired(lane) == 2


async def test_where_nobody_knows_how_long_a_job_takes_one_is_asked_for_to_find_out(lane: Lane) -> None:
    await pile_up(lane, 1000, queue="new")
    assert await lane.call_value("desired_workers", "new") == 1
    assert await lane.call_value("desired_workers", "nobody") == 0


@pytest.mark.parametrize(
    "named",
    [{"target_wait": "'0 s'"}, {"min_workers": -1}, {"min_workers": 5, "max_workers": 4}, {"slots": 0}, {"hysteresis": 1},
     {"current_workers": -1}, {"target_wait": "null"}, {"max_workers": "null"}],
    ids=str,
)  # fmt: skip
async def test_what_is_out_of_range_is_refused(lane: Lane, named: dict[str, object]) -> None:
    with pytest.raises(BadInput, match="target_wait must be above 0"):
        await desired(lane, **named)
