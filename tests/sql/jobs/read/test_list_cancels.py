from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_of_each_attempt_that_was_cancelled_it_tells_the_reason_also_when_the_job_runs_again(
    database: Database,
) -> None:
    for kind in ("again", "once", "never"):
        await enqueue(database, kind)
    await SqlWorker(database).claim(3)
    for job_id in (1, 2):
        await database.call("cancel_job", job_id, f"wrong {job_id}")
    await database.call("retry_job", 1)
    rows = await database.call("list_cancels", [1, 2, 3, 4])
    assert sorted(tuple(row) for row in rows) == [(1, 1, "wrong 1", None), (2, 1, "wrong 2", None)]
