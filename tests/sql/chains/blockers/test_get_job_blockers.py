from __future__ import annotations

import json

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_worker import SqlWorker


async def test_it_gives_the_chains_in_the_order_of_their_slots_with_their_outputs(
    database: Database, worker: SqlWorker
) -> None:
    *parts, whole = await enqueue_many(
        database,
        [{"kind": "part"}, {"kind": "part"}, {"kind": "whole", "blockers": [{"position": 2}, {"position": 1}]}],
    )
    [part] = [job for job in await worker.claim(1) if job["job_id"] == parts[0]]
    await worker.complete([part], [{"n": 1}])
    rows = await database.call("get_job_blockers", whole)
    assert [(row["slot"], row["chain_id"], row["closed_at"] is None, row["output"]) for row in rows] == [
        (1, parts[1], True, None),
        (2, parts[0], False, json.dumps({"n": 1})),
    ]


async def test_there_is_no_row_for_a_job_that_waits_for_nothing_or_is_not_there(database: Database) -> None:
    assert await database.call("get_job_blockers", await enqueue(database)) == []
    assert await database.call("get_job_blockers", 999) == []


async def test_it_says_how_each_chain_stands(database: Database, worker: SqlWorker) -> None:
    completed, failed, cancelled, deleted, waiting = await enqueue_many(
        database, [{"kind": kind} for kind in ("completed", "failed", "cancelled", "deleted", "open")]
    )
    [row] = await database.call(
        "enqueue_jobs",
        json.dumps([{"kind": "whole", "blockers": [completed, failed, cancelled, deleted, waiting]}]),
    )
    await worker.complete(await worker.claim(kinds=["completed"]))
    await worker.fail(await worker.claim(kinds=["failed"]), discard=[True])
    await database.call("cancel_job", cancelled)
    await database.fetch("delete from leasehold.jobs where id = $1", deleted)
    rows = await database.call("get_job_blockers", row["job_id"])
    assert [each["state"] for each in rows] == ["completed", "failed", "cancelled", "deleted", "open"]
