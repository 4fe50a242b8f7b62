"""Rate limits as workers meet them, with time standing still between the steps."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from leasehold.database import Database, ReservedConnection
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_limits import enqueue_groups, limit, shares, usage
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def reserved(database: Database) -> AsyncGenerator[ReservedConnection]:
    """A connection at noon."""
    async with database.reserve("clocked") as reserved:
        await at(reserved, 0)
        yield reserved


async def at(reserved: ReservedConnection, seconds: float) -> None:
    """So many seconds after noon."""
    await freeze(reserved, (NOON + timedelta(seconds=seconds)).isoformat())


async def test_a_burst_starts_at_once_and_then_as_many_as_time_has_filled(reserved: ReservedConnection) -> None:
    await limit(reserved, rate=2.0, burst=5)
    await enqueue_many(reserved, [{"kind": "a"}] * 20)
    worker = SqlWorker(reserved)
    started: list[int] = []
    for seconds in (0, 0, 0.4, 0.5, 1.5, 1.9, 100):
        await at(reserved, seconds)
        claimed = await worker.claim(20)
        started.append(len(claimed))
        await worker.complete(claimed)
    assert started == [5, 0, 0, 1, 2, 0, 5]


async def test_a_slow_rate_lets_one_start_each_time(reserved: ReservedConnection) -> None:
    await limit(reserved, rate=1 / 3)
    await enqueue_many(reserved, [{"kind": "a"}] * 20)
    worker = SqlWorker(reserved)
    started: list[int] = []
    for seconds in (0, 2.999, 3, 6, 9, 12, 14.9, 15):
        await at(reserved, seconds)
        started.append(len(await worker.claim(20)))
    assert started == [1, 0, 1, 1, 1, 1, 0, 1]


async def test_each_group_has_a_bucket_of_its_own(reserved: ReservedConnection) -> None:
    await limit(reserved, group="*", rate=1.0, burst=2)
    await limit(reserved, group="fast", rate=10.0, burst=4)
    await enqueue_groups(reserved, [*"aaabbb", *["fast"] * 6, None, None, None])
    worker = SqlWorker(reserved)
    assert await shares(reserved, await worker.claim(20)) == {"a": 2, "b": 2, "fast": 4, None: 3}
    await at(reserved, 0.2)
    assert await shares(reserved, await worker.claim(20)) == {"fast": 2}
    await at(reserved, 1)
    assert await shares(reserved, await worker.claim(20)) == {"a": 1, "b": 1}


async def test_a_job_needs_a_token_of_its_queue_and_one_of_its_group(reserved: ReservedConnection) -> None:
    await limit(reserved, rate=1.0, burst=3)
    await limit(reserved, group="*", rate=1.0, burst=2)
    await enqueue_groups(reserved, "aaaabb")
    assert await shares(reserved, await SqlWorker(reserved).claim(20)) == {"a": 2, "b": 1}
    found = await usage(reserved)
    assert (found[""]["tokens"], found["*"]["tokens"]) == (0, 0)


async def test_a_token_is_spent_by_each_attempt(reserved: ReservedConnection) -> None:
    await limit(reserved, rate=1.0, burst=2)
    await enqueue_many(reserved, [{"kind": "a"}])
    worker = SqlWorker(reserved)
    for _ in range(2):
        await worker.fail(await worker.claim(), retry_in=[0.0])
    assert await worker.claim() == []


async def test_of_jobs_that_a_key_holds_back_no_token_is_spent(reserved: ReservedConnection) -> None:
    await limit(reserved, rate=1.0, burst=3)
    await enqueue_many(reserved, [{"kind": "a", "key": key} for key in "kkkmn"])
    await reserved.execute("update leasehold.jobs set state = 'pending'")
    assert len(await SqlWorker(reserved).claim(10)) == 3
    assert (await usage(reserved))[""]["tokens"] == 0


async def test_max_running_and_rate_both_hold(reserved: ReservedConnection) -> None:
    await limit(reserved, 2, rate=1.0, burst=3)
    await enqueue_many(reserved, [{"kind": "a"}] * 10)
    worker = SqlWorker(reserved)
    first = await worker.claim(10)
    await worker.complete(first)
    second = await worker.claim(10)
    assert (len(first), len(second)) == (2, 1)


async def test_a_clock_that_goes_backwards_fills_nothing(reserved: ReservedConnection) -> None:
    await limit(reserved, rate=1.0, burst=2)
    await enqueue_many(reserved, [{"kind": "a"}] * 10)
    worker = SqlWorker(reserved)
    started: list[int] = []
    for seconds in (10, 5, 11, 11.5, 12):
        await at(reserved, seconds)
        started.append(len(await worker.claim(10)))
    assert started == [2, 0, 1, 0, 1]


@pytest.mark.parametrize("seed", range(2))
async def test_in_no_span_of_time_more_start_than_the_rate_and_the_burst_allow(
    reserved: ReservedConnection, seed: int
) -> None:
    random = Random(seed)
    rate, burst = random.choice([(3.0, 4), (0.7, 1), (25.0, 10)])
    await limit(reserved, rate=rate, burst=burst)
    await enqueue_many(reserved, [{"kind": "a"}] * 400)
    starts: list[float] = []
    now = 0.0
    for _ in range(120):
        now += random.choice([0.0, 0.01, 0.1, 1 / rate, random.random(), 3.0])
        await at(reserved, now)
        starts += [now] * len(await SqlWorker(reserved).claim(random.choice([1, 3, 20])))
    for first, since in enumerate(starts):
        for last in range(first, len(starts)):
            assert last - first + 1 <= burst + rate * (starts[last] - since) + 0.001
    assert len(starts) >= min(400, burst + rate * now * 0.2)
