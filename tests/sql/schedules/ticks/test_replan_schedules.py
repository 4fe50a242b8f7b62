from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from leasehold.actors.upkeep.ticks import Due, Firing, decide, plan
from leasehold.database import Database, ReservedConnection
from leasehold.schedules.timetable import Timetable
from tests.support.sql_schedules import create, schedule
from tests.support.sql_waits import freeze

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


async def set_clock(connection: ReservedConnection, moment: datetime) -> None:
    await freeze(connection, moment.isoformat())


async def play(connection: ReservedConnection, moment: datetime) -> int:
    """Do at this moment what a scheduler does, until nothing is due. Returns how many ticks fired."""
    await set_clock(connection, moment)
    fired = 0
    while rows := await connection.call("list_due_schedules"):
        for row in rows:
            due = Due(**{name: row[name] for name in Due.__struct_fields__})
            step = (decide if due.is_planned else plan)(due, Timetable.of(dict(row)))
            document = msgspec.json.encode([step]).decode()
            if isinstance(step, Firing):
                fired += sum(row["fired"] for row in await connection.call("fire_schedules", document, "test"))
            else:
                await connection.call("plan_schedules", document)
    return fired


async def play_minutes(connection: ReservedConnection, since: datetime, minutes: int) -> list[int]:
    """Minute by minute, how many ticks fired in each."""
    return [await play(connection, since + n * MINUTE) for n in range(minutes)]


async def set_back(connection: ReservedConnection, moment: datetime) -> int:
    await set_clock(connection, moment)
    replanned = await connection.call_value("replan_schedules")
    assert isinstance(replanned, int)
    return replanned


async def test_where_the_clock_goes_on_nothing_is_planned_anew(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await set_clock(connection, NOON)
        await create(connection, every=60)
        await create(connection, "later", every=60, starts_at=(NOON + DAY).isoformat())
        await play_minutes(connection, NOON, 3)
        before = await schedule(connection), await schedule(connection, "later")
        assert await set_back(connection, NOON + 2 * MINUTE) == 0
        assert (await schedule(connection), await schedule(connection, "later")) == before


async def test_what_repeats_goes_on_at_once(database: Database) -> None:
    rhythms: list[tuple[dict[str, Any], int]] = [
        ({"every": 60}, 15),
        ({"cron": "* * * * *"}, 15),
        ({"cron": "0 * * * * *"}, 15),
        ({"cron": "0 */1 * * *"}, 65),
    ]
    for rhythm, minutes in rhythms:
        async with database.reserve("clocked") as connection:
            await set_clock(connection, NOON)
            await create(connection, **rhythm)
            as_ever = await play_minutes(connection, NOON + MINUTE, minutes)
            assert sum(as_ever) > 0
            assert await set_back(connection, NOON + MINUTE / 2) == 1, rhythm
            assert await play_minutes(connection, NOON + MINUTE, minutes) == as_ever, rhythm
            await connection.call("delete_schedule", "s")


async def test_it_goes_on_however_often_the_clock_is_set_back(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await set_clock(connection, NOON)
        await create(connection, every=60)
        for _ in range(3):
            assert await play_minutes(connection, NOON + MINUTE, 5) == [1] * 5
            await set_back(connection, NOON + MINUTE / 2)
        for _ in range(2):
            assert await play_minutes(connection, NOON + MINUTE, 3) == [1] * 3
            await set_back(connection, NOON + MINUTE / 2)
        assert await play_minutes(connection, NOON + MINUTE, 5) == [1] * 5


async def test_fixed_times_and_single_ticks_that_were_made_are_not_made_again(database: Database) -> None:
    rhythms: list[dict[str, Any]] = [{"cron": "30 12 * * *"}, {"at": (NOON + HOUR / 2).isoformat()}]
    for rhythm in rhythms:
        async with database.reserve("clocked") as connection:
            await set_clock(connection, NOON)
            await create(connection, **rhythm)
            assert sum(await play_minutes(connection, NOON + MINUTE, 40)) == 1
            assert await set_back(connection, NOON + MINUTE) == 1
            assert sum(await play_minutes(connection, NOON + MINUTE, 90)) == 0
            assert await play(connection, NOON + HOUR / 2 + DAY) == ("cron" in rhythm)
            await connection.call("delete_schedule", "s")


async def test_what_was_missed_only_because_the_clock_was_ahead_is_made_at_its_time(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await set_clock(connection, NOON)
        await create(connection, cron="30 12 * * *", missed="skip", grace=60)
        await create(connection, "often", every=60, missed="skip", grace=60)
        await play(connection, NOON)
        await play(connection, NOON + HOUR)
        await set_back(connection, NOON + MINUTE / 2)
        assert await play_minutes(connection, NOON + MINUTE, 31) == [1] * 29 + [2, 1]


async def test_an_interval_that_was_to_count_from_a_time_to_come_keeps_its_pace(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await set_clock(connection, NOON + HOUR)
        row = await create(connection, every=60)
        assert await set_back(connection, NOON + MINUTE / 2) == 1
        assert await play_minutes(connection, NOON + MINUTE, 5) == [1] * 5
        assert (row["anchor"] - (await schedule(connection))["anchor"]) % MINUTE == timedelta()


async def test_one_that_begins_at_a_time_waits_for_it(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await set_clock(connection, NOON + HOUR)
        await create(connection, every=60, starts_at=(NOON + 3 * MINUTE).isoformat())
        await play(connection, NOON + HOUR)
        assert await set_back(connection, NOON) == 1
        assert await play_minutes(connection, NOON + MINUTE, 4) == [0, 0, 1, 1]
