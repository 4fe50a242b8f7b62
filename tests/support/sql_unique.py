"""Short ways to enqueue unique jobs."""

from __future__ import annotations

import json

from leasehold.database import Caller
from tests.support.sql_worker import Json, SqlWorker

Answer = tuple[int, str]


async def enqueue_unique(caller: Caller, *jobs: object) -> list[Answer]:
    """The id and the outcome of each; is_new must agree with the outcome."""
    rows = await caller.call("enqueue_jobs", json.dumps(jobs))
    assert all(row["is_new"] == (row["outcome"] == "created") for row in rows)
    return [(row["job_id"], row["outcome"]) for row in rows]


async def enqueue_one(caller: Caller, kind: str = "a", *, unique: object = None, **fields: object) -> Answer:
    """One job; unique by kind and args unless said otherwise."""
    (answer,) = await enqueue_unique(caller, {"kind": kind, "unique": {} if unique is None else unique, **fields})
    return answer


async def go_on(worker: SqlWorker, continuation: Json) -> list[int]:
    """Claim one job and complete it with a continuation; the ids of the new jobs."""
    ((reason, new_ids),) = (await worker.continue_with(await worker.claim(1), [continuation])).values()
    assert reason is None
    assert new_ids is not None
    return new_ids
