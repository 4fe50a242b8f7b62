from __future__ import annotations

from uuid import uuid4

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def outcomes(database: Database, *args: object) -> dict[int, str]:
    return {row["job_id"]: row["outcome"] for row in await database.call("adopt_jobs", *args)}


async def test_what_a_worker_still_holds_goes_to_its_new_incarnation_and_the_former_may_not_write(
    database: Database,
) -> None:
    worker, new = SqlWorker(database), uuid4()
    await database.call("enqueue_job", "echo")
    [job] = await worker.claim()
    assert await outcomes(database, worker.incarnation, new, [job["job_id"]], [1]) == {1: "adopted"}
    assert await outcomes(database, worker.incarnation, new, [job["job_id"]], [1]) == {1: "adopted"}, "asked again"
    [refused] = await database.call("complete_jobs", worker.incarnation, [1], [1], [None], [None])
    assert refused["reason"] == "taken_by_another_worker"
    assert await database.call("complete_jobs", new, [1], [1], [None], [None]) == []


async def test_what_is_gone_and_what_others_have_is_told_apart(database: Database) -> None:
    worker, other = SqlWorker(database), SqlWorker(database, "other")
    for _ in range(3):
        await database.call("enqueue_job", "echo")
    await worker.claim(1)
    await database.call("complete_jobs", worker.incarnation, [1], [1], [None], [None])
    await other.claim(1)
    found = await outcomes(database, worker.incarnation, uuid4(), [1, 2, 3, 99], [1, 1, 1, 1])
    assert found == {1: "taken", 2: "taken", 3: "taken", 99: "lost"}


async def test_a_row_that_somebody_has_locked_is_not_waited_for(database: Database) -> None:
    worker = SqlWorker(database)
    await database.call("enqueue_job", "echo")
    await worker.claim()
    async with database.transaction() as session:
        await session.call("assert_lease", 1, 1, worker.incarnation)
        assert await outcomes(database, worker.incarnation, uuid4(), [1], [1]) == {1: "busy"}
