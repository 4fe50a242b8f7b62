from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker, refusals


async def test_each_job_has_its_reason_and_the_writers_own_outcomes_are_left_out(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 5)
    await worker.complete(claimed[:1])
    await worker.fail(claimed[1:2], discard=[True])
    await database.call("cancel_job", 3)
    await worker.release(claimed[3:4])
    asked = ([1, 2, 3, 4, 999], [1] * 5)
    assert refusals(await database.call("name_refusals", worker.incarnation, *asked)) == {
        3: "cancelled",
        4: "taken_by_another_worker",
        999: "not_found",
    }
    assert refusals(await database.call("name_refusals", SqlWorker(database).incarnation, *asked)) == {
        1: "already_completed",
        2: "already_completed",
        3: "cancelled",
        4: "taken_by_another_worker",
        999: "not_found",
    }


async def test_another_attempt_of_the_same_worker_is_another_writer(database: Database, worker: SqlWorker) -> None:
    await worker.fail(await worker.given_all([{"kind": "a"}]), retry_in=[0.0])
    await worker.complete(await worker.claim())
    assert refusals(await database.call("name_refusals", worker.incarnation, [1], [1])) == {1: "already_completed"}
    assert refusals(await database.call("name_refusals", worker.incarnation, [1], [2])) == {}


async def test_no_jobs_have_no_reasons(database: Database, worker: SqlWorker) -> None:
    assert await database.call("name_refusals", worker.incarnation, [], []) == []
    assert await database.call("name_refusals", worker.incarnation, None, None) == []
