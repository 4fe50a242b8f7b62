from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database, ReservedConnection
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker, ids

START = datetime(2021, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture
async def aged(database: Database) -> AsyncGenerator[ReservedConnection]:
    """A connection whose clock stands still at START; queue `default` ages its jobs by the minute."""
    async with database.reserve("aged") as reserved:
        await at(reserved, 0)
        await reserved.call("set_ageing", "default", MINUTE)
        yield reserved


async def at(reserved: ReservedConnection, minutes: float) -> None:
    await freeze(reserved, str(START + minutes * MINUTE))


async def age(reserved: ReservedConnection, batch: int = 1000) -> int:
    return int(str(await reserved.call_value("age_jobs", batch)))


async def priorities(reserved: ReservedConnection) -> list[int]:
    return [row["priority"] for row in await reserved.fetch("select priority from leasehold.jobs order by id")]


async def test_a_job_gains_a_priority_for_each_span_that_it_waits_up_to_the_highest(aged: ReservedConnection) -> None:
    await enqueue_many(aged, [{"kind": "a"}, {"kind": "b", "priority": 3}])
    found: list[tuple[int, list[int]]] = []
    for minutes in (0.9, 1, 1.5, 2, 3, 4):
        await at(aged, minutes)
        found.append((await age(aged), await priorities(aged)))
    assert found == [(0, [0, 3]), (1, [1, 3]), (0, [1, 3]), (1, [2, 3]), (1, [3, 3]), (0, [3, 3])]


async def test_what_was_slept_through_is_made_up_for(aged: ReservedConnection) -> None:
    await enqueue_many(aged, [{"kind": "a"}, {"kind": "b", "priority": 9}])
    await at(aged, 4.5)
    assert await age(aged) == 1
    assert await priorities(aged) == [4, 9]
    await at(aged, 5)
    assert (await age(aged), await priorities(aged)) == (1, [5, 9])


async def test_nobody_gains_for_longer_than_it_waited(aged: ReservedConnection) -> None:
    await enqueue_many(aged, [{"kind": "urgent", "priority": 9}])
    await at(aged, 3.5)
    await enqueue_many(aged, [{"kind": "young"}])
    await at(aged, 5)
    assert (await age(aged), await priorities(aged)) == (1, [9, 1])


async def test_a_low_job_starts_in_the_end_though_higher_ones_keep_coming(
    aged: ReservedConnection, worker: SqlWorker
) -> None:
    await enqueue_many(aged, [{"kind": "low"}])
    for minute in range(1, 4):
        await enqueue_many(aged, [{"kind": "high", "priority": 3}] * 2)
        await worker.claim(1, kinds=None)
        await at(aged, minute)
        await age(aged)
    assert ids(await worker.claim(1, kinds=None)) == [1]


async def test_where_all_have_one_priority_nothing_is_written(aged: ReservedConnection) -> None:
    await enqueue_many(aged, [{"kind": "a", "priority": 2}] * 50)
    await at(aged, 10)
    assert await age(aged) == 0


async def test_only_pending_jobs_of_queues_that_say_so_age(aged: ReservedConnection, worker: SqlWorker) -> None:
    await enqueue_many(
        aged,
        [
            {"kind": "held"},
            {"kind": "top", "priority": 5},
            {"kind": "later", "delay": 3600},
            {"kind": "k", "key": "k"},
            {"kind": "k", "key": "k"},
            {"kind": "elsewhere", "queue": "q"},
            {"kind": "elsewhere", "queue": "q", "priority": 5},
        ],
    )
    await worker.claim(1, kinds=["held"])
    await at(aged, 1)
    assert await age(aged) == 1
    assert await priorities(aged) == [0, 5, 0, 1, 0, 0, 5]


async def test_the_oldest_come_first_where_there_are_more_than_a_batch(aged: ReservedConnection) -> None:
    await enqueue_many(aged, [{"kind": kind} for kind in "abcb"])
    await at(aged, 0.5)
    await enqueue_many(aged, [{"kind": "a", "key_group": "g"}, {"kind": "z", "priority": 1}])
    await at(aged, 3)
    assert (await age(aged, 3), await priorities(aged)) == (3, [1, 1, 1, 0, 0, 1])


async def test_rows_that_somebody_has_locked_are_left_for_the_next_time(
    database: Database, aged: ReservedConnection
) -> None:
    await enqueue_many(aged, [{"kind": "a"}, {"kind": "a"}, {"kind": "b", "priority": 5}])
    await at(aged, 1)
    async with open_transaction(database, "other") as other:
        await at(other, 1)
        await other.execute("select from leasehold.jobs where id = 1 for update")
        assert await age(aged) == 1
    assert await priorities(aged) == [0, 1, 5]


async def test_two_at_once_do_it_once(database: Database, aged: ReservedConnection) -> None:
    await enqueue_many(aged, [{"kind": "a"}, {"kind": "b", "priority": 5}])
    await at(aged, 1)
    async with open_transaction(database, "other") as other:
        await at(other, 1)
        assert await other.call_value("age_jobs") == 1
        assert await age(aged) == 0
        await other.execute("commit")
    assert await age(aged) == 0
