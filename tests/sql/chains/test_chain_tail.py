from __future__ import annotations

from leasehold.database import Database, Row
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def tail(database: Database, chain_id: int) -> Row | None:
    rows = await database.call("chain_tail", chain_id)
    assert len(rows) <= 1
    return rows[0] if rows else None


async def short(database: Database, chain_id: int) -> tuple[object, ...] | None:
    row = await tail(database, chain_id)
    return None if row is None else (row["job_id"], row["state"], row["is_open"], row["output"])


async def test_of_a_chain_of_one_it_is_that_job_in_each_state(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    assert await short(database, 1) == (1, "pending", True, None)
    claimed = await worker.claim()
    assert await short(database, 1) == (1, "claimed", True, None)
    await worker.complete(claimed, [{"a": 1}])
    assert await short(database, 1) == (1, "completed", False, '{"a": 1}')


async def test_it_goes_along_the_chain(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    for n in (2, 3):
        await worker.continue_with(await worker.claim(), [{"next": {"kind": f"k{n}"}}])
        assert await short(database, 1) == (n, "pending", True, None)
    await worker.complete(await worker.claim(), ["last"])
    assert await short(database, 1) == (3, "completed", False, '"last"')


async def test_a_failed_tail_has_its_error_and_is_open_again_after_a_retry(
    database: Database, worker: SqlWorker
) -> None:
    await worker.continue_with(await worker.given(), [{"next": {"kind": "b"}}])
    await worker.fail(await worker.claim(), discard=[True])
    row = await tail(database, 1)
    assert row is not None
    assert (row["job_id"], row["state"], row["is_open"]) == (2, "failed", False)
    assert row["error"] is not None
    assert row["finished_at"] is not None
    await database.call("retry_job", 2)
    assert await short(database, 1) == (2, "pending", True, None)


async def test_a_later_job_and_what_is_no_job_have_none(database: Database, worker: SqlWorker) -> None:
    await worker.continue_with(await worker.given(), [{"next": {"kind": "b"}}])
    assert await tail(database, 2) is None
    assert await tail(database, 404) is None
    await worker.complete(await worker.claim())
    assert await tail(database, 2) is None
