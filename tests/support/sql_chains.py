"""Chains and jobs that wait for them: made and looked at in few words, and the rules that the tables must keep to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from leasehold.database import Caller, Row
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_worker import SqlWorker

Edge = tuple[int, bool, object]


async def chain(caller: Caller, chain_id: int) -> Row:
    """The chain as get_chain shows it."""
    (row,) = await caller.call("get_chain", chain_id)
    return row


async def chain_state(caller: Caller, chain_id: int) -> str:
    return (await chain(caller, chain_id))["state"]


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


async def edges(caller: Caller, job_id: int) -> list[Edge]:
    """What the job waits for, in the order of the slots: the chain, whether it is closed, and its output."""
    rows = await caller.fetch(
        "select chain_id, closed_at is not null as is_closed, output from leasehold.job_blockers where job_id = $1 order by slot",
        job_id,
    )
    return [
        (row["chain_id"], row["is_closed"], None if row["output"] is None else json.loads(row["output"]))
        for row in rows
    ]


async def links(caller: Caller, chain_id: int) -> list[tuple[int, int, str, int | None]]:
    """The jobs of a chain, in order: id, position, state, the job that came next."""
    rows = await caller.fetch(
        "select id, chain_position, state, succeeded_by from leasehold.all_jobs where chain_id = $1 order by chain_position",
        chain_id,
    )
    return [cast("tuple[int, int, str, int | None]", tuple(row)) for row in rows]


async def enqueue_blocked(caller: Caller, blockers: Sequence[object], kind: str = "joined", **fields: object) -> int:
    """One job that waits for these chains."""
    (job_id,) = await enqueue_many(caller, [{"kind": kind, "blockers": list(blockers), **fields}])
    return job_id


async def blocked_by(caller: Caller, count: int) -> tuple[list[int], int]:
    """So many jobs of kind `part`, and one that waits for all of them."""
    positions = [{"position": n} for n in range(1, count + 1)]
    *parts, joined = await enqueue_many(
        caller, [*[{"kind": "part"}] * count, {"kind": "joined", "blockers": positions}]
    )
    return parts, joined


async def claim_kind(worker: SqlWorker, kind: str) -> list[Row]:
    """Everything of this kind that can be claimed."""
    return await worker.claim(10_000, kinds=[kind])


async def make_circle(caller: Caller, worker: SqlWorker, count: int) -> None:
    """So many chains, 1 to `count` of kinds c1, c2, …, each of which waits for the one after it, and the last for the first."""
    await enqueue_many(caller, [{"kind": f"c{number}"} for number in range(1, count + 1)])
    for number in range(1, count + 1):
        held = await claim_kind(worker, f"c{number}")
        assert await worker.block(held, [{"blockers": [number % count + 1]}]) == {}


async def complete_all(worker: SqlWorker, kind: str, output: object = None) -> list[int]:
    """Complete whatever of this kind can be claimed; the ids."""
    claimed = await claim_kind(worker, kind)
    if claimed:
        assert await worker.complete(claimed, [output] * len(claimed)) == {}
    return [row["job_id"] for row in claimed]


# A broken rule is a row: what the tables must never show, whoever did what in whatever order.
BROKEN = """
select format('chain %s has %s open jobs', chain_id, count(*)) as rule
  from (select coalesce(chain_id, id) as chain_id from leasehold.jobs) j group by chain_id having count(*) > 1
union all
select format('key %s has %s holders', key, count(*)) from leasehold.jobs
 where key is not null and incarnation is not null group by key having count(*) > 1
union all
select format('job %s is there %s times', id, count(*)) from leasehold.all_jobs group by id having count(*) > 1
union all
select format('job %s is %s behind an open chain', j.id, j.state) from leasehold.jobs j
 where j.state <> 'blocked'
   and exists (select from leasehold.job_blockers b where b.job_id = j.id and b.closed_at is null)
union all
select format('edge of job %s to %s is closed and the chain has not completed', b.job_id, b.chain_id)
  from leasehold.job_blockers b where b.closed_at is not null and b.end_state is null and not leasehold.is_over(b.chain_id, null)
union all
select format('chain %s ended as completed with %s last jobs', c.chain_id, c.tails)
  from (select chain_id, count(*) filter (where succeeded_by is null) as tails, bool_and(state = 'completed') as is_done
          from leasehold.all_jobs group by chain_id) c
 where c.is_done and c.tails <> 1
union all
select format('job %s is followed by %s, which is not there', f.id, f.succeeded_by) from leasehold.finished_jobs f
 where f.succeeded_by is not null
   and not exists (select from leasehold.all_jobs a
                    where a.id = f.succeeded_by and a.chain_id = coalesce(f.chain_id, f.id)
                      and a.chain_position = coalesce(f.chain_position, 0) + 1)
"""

STRANDED = """
union all
select format('job %s is blocked by nothing', j.id) from leasehold.jobs j
 where j.state = 'blocked'
   and not exists (select from leasehold.job_blockers b
                    where b.job_id = j.id and b.closed_at is null and not leasehold.is_over(b.chain_id, b.until_ended))
"""


async def broken_chains(caller: Caller, *, is_swept: bool = False) -> list[str]:
    """What must never be, in words; after a sweep also what it should have mended."""
    # Before Postgres 18 a function in SQL is planned at each call, here for each job.
    return [row["rule"] for row in await caller.fetch(BROKEN + (STRANDED if is_swept else ""), timeout=300.0)]


async def sweep(caller: Caller) -> int:
    """Go round all blocked jobs once, as the reaper does; how many were stranded."""
    place, found = (None, None), 0
    while True:
        (row,) = await caller.call("unblock_stranded_jobs", *place)
        found += row["found"]
        if row["last_id"] is None:
            return found
        place = row["last_run_at"], row["last_id"]
