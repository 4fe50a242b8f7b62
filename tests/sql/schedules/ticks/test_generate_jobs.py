from __future__ import annotations

from datetime import date

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_jobs import empty
from tests.support.sql_schedules import create, create_at, jobs_made
from tests.support.sql_waits import freeze

SHOPS = "select n as shop from generate_series(1, 6) n"
DAY = date(2030, 6, 1)


async def starts(database: Database) -> list[str]:
    return [f"{job['run_at']:%d %H:%M}" for job in await jobs_made(database)]


async def test_batches_are_spread_over_the_day(database: Database) -> None:
    await create(database, query=SHOPS)
    [made] = await database.call("generate_jobs", "s", 3, DAY)
    assert (made["job_count"], made["job_ids"], made["is_new"]) == (6, [1, 2, 3, 4, 5, 6], True)
    assert made["tick_at"].isoformat() == "2030-06-01T00:00:00+00:00"
    assert await starts(database) == ["01 00:00", "01 00:00", "01 08:00", "01 08:00", "01 16:00", "01 16:00"]


async def test_they_are_spread_over_the_window_of_the_schedule_where_it_has_one(database: Database) -> None:
    await create(database, query=SHOPS, stagger=3600, batches=2)
    await database.call("generate_jobs", "s", None, DAY)
    assert await starts(database) == [*["01 00:00"] * 3, *["01 00:30"] * 3]


async def test_without_either_all_are_made_at_once(database: Database) -> None:
    await create(database, query=SHOPS)
    await database.call("generate_jobs", "s", None, DAY)
    assert await starts(database) == ["01 00:00"] * 6


async def test_for_the_same_date_they_are_made_once(database: Database) -> None:
    await create(database)
    [first] = await database.call("generate_jobs", "s", 2, DAY)
    [again] = await database.call("generate_jobs", "s", 5, DAY)
    assert (again["job_ids"], again["is_new"], again["tick_at"]) == (first["job_ids"], False, first["tick_at"])
    [other] = await database.call("generate_jobs", "s", 2, date(2030, 6, 2))
    assert other["is_new"]
    assert len(await jobs_made(database)) == 2


async def test_a_day_is_one_of_the_schedules_zone_however_long(database: Database) -> None:
    """On 31 March 2030 clocks in Berlin go forward: the day has 23 hours."""
    await create(database, query=SHOPS, zone="Europe/Berlin")
    [made] = await database.call("generate_jobs", "s", 2, date(2030, 3, 31))
    assert made["tick_at"].isoformat() == "2030-03-30T23:00:00+00:00"
    assert await starts(database) == [*["30 23:00"] * 3, *["31 10:30"] * 3]


async def test_today_is_the_default_and_what_is_past_runs_now(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await create_at(connection, "2030-06-01 23:00Z", query=SHOPS, zone="Europe/Berlin")
        await freeze(connection, "2030-06-02 10:00Z")
        [made] = await connection.call("generate_jobs", "s", 3)
        assert made["tick_at"].isoformat() == "2030-06-01T22:00:00+00:00"
    assert await starts(database) == [*["02 10:00"] * 4, *["02 14:00"] * 2]


async def test_batches_are_a_sensible_number(database: Database, subtests: pytest.Subtests) -> None:
    for batches in [0, -1, 100001]:
        await empty(database)
        with subtests.test(batches=batches):
            await create(database)
            with pytest.raises(BadInput, match="batches must be from 1 to 100000"):
                await database.call("generate_jobs", "s", batches)
