"""Rate limits as workers meet them, with time standing still between the steps."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from leasehold.database import Database, Lane
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_limits import enqueue_groups, limit, shares, usage
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
async def lane(database: Database) -> AsyncGenerator[Lane]:
    """A connection at noon."""
    async with database.lane("clocked") as lane:
        await at(lane, 0)
        yield lane


async def at(lane: Lane, seconds: float) -> None:
    """So many seconds after noon."""
    await freeze(lane, (NOON + timedelta(seconds=seconds)).isoformat())


async def test_a_burst_starts_at_once_and_then_as_many_as_time_has_filled(lane: Lane) -> None:
    await limit(lane, rate=2.0, burst=5)
    await enqueue_many(lane, [{"kind": "a"}] * 20)
    worker = SqlWorker(lane)
    started: list[int] = []
    for seconds in (0, 0, 0.4, 0.5, 1.5, 1.9, 100):
        await at(lane, seconds)
        claimed = await worker.claim(20)
        started.append(len(claimed))
        await worker.complete(claimed)
    assert started == [5, 0, 0, 1, 2, 0, 5]


async def test_a_slow_rate_lets_one_start_each_time(lane: Lane) -> None:
    await limit(lane, rate=1 / 3)
    await enqueue_many(lane, [{"kind": "a"}] * 20)
    worker = SqlWorker(lane)
    started: list[int] = []
    for seconds in (0, 2.999, 3, 6, 9, 12, 14.9, 15):
        await at(lane, seconds)
        started.append(len(await worker.claim(20)))
    assert started == [1, 0, 1, 1, 1, 1, 0, 1]


async def test_each_group_has_a_bucket_of_its_own(lane: Lane) -> None:
    await limit(lane, group="*", rate=1.0, burst=2)
    await limit(lane, group="fast", rate=10.0, burst=4)
    await enqueue_groups(lane, [*"aaabbb", *["fast"] * 6, None, None, None])
    worker = SqlWorker(lane)
    assert await shares(lane, await worker.claim(20)) == {"a": 2, "b": 2, "fast": 4, None: 3}
    await at(lane, 0.2)
    assert await shares(lane, await worker.claim(20)) == {"fast": 2}
    await at(lane, 1)
    assert await shares(lane, await worker.claim(20)) == {"a": 1, "b": 1}


async def test_a_job_needs_a_token_of_its_queue_and_one_of_its_group(lane: Lane) -> None:
    await limit(lane, rate=1.0, burst=3)
    await limit(lane, group="*", rate=1.0, burst=2)
    await enqueue_groups(lane, "aaaabb")
    assert await shares(lane, await SqlWorker(lane).claim(20)) == {"a": 2, "b": 1}
    found = await usage(lane)
    assert (found[""]["tokens"], found["*"]["tokens"]) == (0, 0)


async def test_a_token_is_spent_by_each_attempt(lane: Lane) -> None:
    await limit(lane, rate=1.0, burst=2)
    await enqueue_many(lane, [{"kind": "a"}])
    worker = SqlWorker(lane)
    for _ in range(2):
        await worker.fail(await worker.claim(), retry_in=[0.0])
    assert await worker.claim() == []


async def test_of_jobs_that_a_key_holds_back_no_token_is_spent(lane: Lane) -> None:
    await limit(lane, rate=1.0, burst=3)
    await enqueue_many(lane, [{"kind": "a", "key": key} for key in "kkkmn"])
    await lane.execute("update leasehold.jobs set state = 'pending'")
    assert len(await SqlWorker(lane).claim(10)) == 3
    assert (await usage(lane))[""]["tokens"] == 0


async def test_max_running_and_rate_both_hold(lane: Lane) -> None:
    await limit(lane, 2, rate=1.0, burst=3)
    await enqueue_many(lane, [{"kind": "a"}] * 10)
    worker = SqlWorker(lane)
    first = await worker.claim(10)
    await worker.complete(first)
    second = await worker.claim(10)
    assert (len(first), len(second)) == (2, 1)


async def test_a_clock_that_goes_backwards_fills_nothing(lane: Lane) -> None:
    await limit(lane, rate=1.0, burst=2)
    await enqueue_many(lane, [{"kind": "a"}] * 10)
    worker = SqlWorker(lane)
    started: list[int] = []
    for seconds in (10, 5, 11, 11.5, 12):
        await at(lane, seconds)
        started.append(len(await worker.claim(10)))
    assert started == [2, 0, 1, 0, 1]


@pytest.mark.parametrize("seed", range(4))
async def test_in_no_span_of_time_more_start_than_the_rate_and_the_burst_allow(lane: Lane, seed: int) -> None:
    random = Random(seed)
    rate, burst = random.choice([(3.0, 4), (0.7, 1), (25.0, 10)])
    await limit(lane, rate=rate, burst=burst)
    await enqueue_many(lane, [{"kind": "a"}] * 400)
    starts: list[float] = []
    now = 0.0
    for _ in range(120):
        now += random.choice([0.0, 0.01, 0.1, 1 / rate, random.random(), 3.0])
        await at(lane, now)
        starts += [now] * len(await SqlWorker(lane).claim(random.choice([1, 3, 20])))
    for first, since in enumerate(starts):
        for last in range(first, len(starts)):
            assert last - first + 1 <= burst + rate * (starts[last] - since) + 0.001
    assert len(starts) >= min(400, burst + rate * now * 0.2)
