from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.support.sql_limits import enqueue_groups, limit
from tests.support.sql_waits import freeze, frozen, open_transaction
from tests.support.sql_worker import SqlWorker


async def buckets(caller: Database | ReservedConnection) -> set[str]:
    return {row[0] for row in await caller.fetch("select key_group from leasehold.rate_buckets")}


async def test_buckets_that_are_full_again_are_forgotten(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await limit(connection, group="*", rate=1.0, burst=4)
        await limit(connection, group="slow", rate=0.1, burst=4)
        await enqueue_groups(connection, ["a", "b", "b", "slow"])
        await SqlWorker(connection).claim()
        await freeze(connection, "2026-03-01 12:00:01Z")
        assert await connection.call_value("drop_full_buckets") == 1
        assert await buckets(connection) == {"b", "slow"}
        await freeze(connection, "2026-03-01 12:00:10Z")
        assert await connection.call_value("drop_full_buckets") == 2


async def test_buckets_without_a_limit_are_forgotten(database: Database, worker: SqlWorker) -> None:
    await limit(database, group="*", rate=1e-6, burst=4)
    await enqueue_groups(database, "ab")
    await worker.claim()
    await limit(database, 3, group="a")
    assert await database.call_value("drop_full_buckets") == 1
    assert await buckets(database) == {"b"}


async def test_a_queue_that_somebody_claims_from_is_left_alone(database: Database, worker: SqlWorker) -> None:
    await limit(database, rate=1e6, burst=1)
    await enqueue_groups(database, "aa")
    await worker.claim(1)
    async with open_transaction(database, "claimer") as claimer:
        await SqlWorker(claimer, "other").claim(1)
        assert await database.call_value("drop_full_buckets") == 0
