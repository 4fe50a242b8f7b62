"""Chains, made and looked at through the SQL functions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from leasehold.database import Caller, Row
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def chain(caller: Caller, chain_id: int) -> Row:
    """The chain as get_chain shows it."""
    (row,) = await caller.call("get_chain", chain_id)
    return row


async def chain_state(caller: Caller, chain_id: int) -> str:
    return (await chain(caller, chain_id))["state"]


async def blocked(caller: Caller, blockers: Sequence[int], kind: str = "whole", **fields: object) -> int:
    """A job that waits for these chains."""
    document = json.dumps([{"kind": kind, "blockers": list(blockers), **fields}])
    (row,) = await caller.call("enqueue_jobs", document)
    return row["job_id"]


async def continued(caller: Caller, worker: SqlWorker, *kinds: str) -> tuple[int, ...]:
    """A chain of jobs of these kinds, all but the last completed; returns their ids."""
    ids = [await enqueue(caller, kinds[0])]
    for kind in kinds[1:]:
        jobs = [job for job in await worker.claim() if job["job_id"] == ids[-1]]
        answer = await worker.continue_with(jobs, [{"next": {"kind": kind}}])
        new = answer[ids[-1]][1]
        assert new is not None
        ids.append(new[-1])
    return tuple(ids)


async def ended(caller: Caller, worker: SqlWorker, state: str, kind: str = "part", output: object = None) -> int:
    """A chain of one job in this state."""
    job_id = await enqueue(caller, kind)
    if state == "completed":
        await worker.complete(await worker.claim(kinds=[kind]), [output])
    elif state == "failed":
        await worker.fail(await worker.claim(kinds=[kind]), discard=[True])
    elif state == "cancelled":
        await caller.call("cancel_job", job_id)
    return job_id
