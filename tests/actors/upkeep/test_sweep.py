from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.actors.upkeep import reaper as sweep_module
from leasehold.actors.upkeep.reaper import Sweep
from leasehold.database import Caller, Database, Row
from tests.support.sql_jobs import enqueue_many, states

STRAND = "update leasehold.jobs set state = 'waiting', run_at = $2 where id = any ($1)"
T0 = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Counting(Caller):
    """Passes calls on, and counts the jobs that each may look at."""

    def __init__(self, inner: Caller) -> None:
        self._inner = inner
        self.batches: list[object] = []

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        self.batches.append(args[-1])
        return await self._inner.fetch(sql, *args, timeout=timeout)


async def keyed(database: Database, count: int) -> list[int]:
    """Pending jobs with keys of their own."""
    return await enqueue_many(database, [{"kind": "a", "key": f"k{n}"} for n in range(count)])


async def test_the_first_round_looks_at_all(database: Database) -> None:
    ids = await keyed(database, 2500)
    await database.fetch(STRAND, ids, T0)
    assert await Sweep(database, "promote_stranded_jobs", bool).round(T0) == 2500


async def test_later_rounds_look_at_what_came_since_and_at_a_slice_of_the_others(database: Database) -> None:
    ids = await keyed(database, 900)
    connection = Counting(database)
    sweep = Sweep(connection, "promote_stranded_jobs", bool)
    assert await sweep.round(T0) == 0
    await database.fetch(STRAND, ids[:600], T0 - timedelta(hours=1))
    await database.fetch(STRAND, ids[600:], T0 + timedelta(seconds=1))
    connection.batches.clear()
    found = [await sweep.round(T0 + timedelta(seconds=5 * n)) for n in range(1, 5)]
    assert found == [400, 100, 100, 100]
    assert connection.batches == [sweep_module.BATCH, sweep_module.SLICE] * 4
    assert list((await states(database)).values()).count("waiting") == 200


async def test_what_was_enqueued_by_a_transaction_that_took_some_seconds_is_found_after_its_commit(
    database: Database,
) -> None:
    ids = await keyed(database, 300)
    sweep = Sweep(database, "promote_stranded_jobs", bool)
    await sweep.round(T0)
    await database.fetch(STRAND, ids[:-1], T0 - timedelta(hours=1))
    await database.fetch(STRAND, ids[-1:], T0 - timedelta(seconds=14))
    await sweep.round(T0 + timedelta(seconds=5))
    assert (await states(database))[ids[-1]] == "pending"


async def test_a_drain_ends_a_round(database: Database) -> None:
    ids = await keyed(database, 1500)
    await database.fetch(STRAND, ids, T0)
    answers = iter([False, True, True])
    assert await Sweep(database, "promote_stranded_jobs", lambda: next(answers)).round(T0) == 1000


async def test_what_comes_after_the_clock_was_set_back_is_found_at_once(database: Database) -> None:
    ids = await keyed(database, 300)
    await database.fetch(STRAND, ids[:-1], T0 - timedelta(days=1))
    await database.fetch("update leasehold.jobs set state = 'blocked' where id = any ($1)", ids[:-1])
    sweep = Sweep(database, "promote_stranded_jobs", bool)
    await sweep.round(T0)
    await database.fetch("update leasehold.jobs set state = 'waiting' where id = any ($1)", ids[:-1])
    await database.fetch(STRAND, ids[-1:], T0 - timedelta(hours=1))
    await sweep.round(T0 - timedelta(hours=1))
    assert (await states(database))[ids[-1]] == "pending"
