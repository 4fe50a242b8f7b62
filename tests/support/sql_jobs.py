"""Short ways to put jobs into a database and to look at them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from leasehold.database import Caller, Database, ReservedConnection, Row, Transaction
from tests.support.emptied import EMPTIED

Scripted = Database | ReservedConnection | Transaction  # what also runs scripts of several statements


async def enqueue(caller: Caller, kind: str = "echo", **fields: object) -> int:
    """Enqueue one job; `fields` as in enqueue_job."""
    job_id = await caller.call_value("enqueue_job", kind, timeout=None, **fields)
    assert isinstance(job_id, int)
    return job_id


async def enqueue_many(caller: Caller, jobs: Sequence[object]) -> list[int]:
    """Enqueue JSON objects in one call."""
    return [row["job_id"] for row in await caller.call("enqueue_jobs", json.dumps(jobs))]


async def pile_up(
    caller: Caller,
    count: int,
    kind: str = "echo",
    *,
    key: str | None = None,
    queue: str = "default",
    priority: int = 0,
    minutes: int = 0,
) -> None:
    """Many jobs at once, made on the server so many minutes ago (not in a transaction, whose clock would stay there). `key` may
    hold %s for the number of the job."""
    await caller.fetch(
        "select count(*) from set_config('leasehold.frozen_clock', coalesce(case when $6::int > 0 "
        "then (clock_timestamp() - make_interval(mins => $6::int))::text end, "
        "current_setting('leasehold.frozen_clock', true)), true) as set_back, "
        "leasehold.enqueue_jobs((select jsonb_agg(jsonb_build_object("
        "'kind', $2::text, 'key', format($3::text, n), 'queue', $4::text, 'priority', $5::int, 'run_at', null) "
        "order by format($3::text, n), n) from generate_series(1, $1::int) n), set_back = 'never')",
        count,
        kind,
        key,
        queue,
        priority,
        minutes,
    )


async def changed_in_bulk(
    caller: Caller, *, function: str, dry_run: bool = False, **filters: object
) -> dict[int, tuple[bool, str | None, str | None, str | None]]:
    """What a change in bulk answers: for each job whether it was changed, its state before and now, and why not."""
    rows = await caller.call(function, timeout=None, dry_run=dry_run, **filters)
    return {row["job_id"]: (row["changed"], row["was"], row["now"], row["reason"]) for row in rows}


async def job(caller: Caller, job_id: int) -> Row:
    """The job as get_job shows it."""
    (row,) = await caller.call("get_job", job_id)
    return row


async def state(caller: Caller, job_id: int) -> str:
    return (await job(caller, job_id))["state"]


async def states(caller: Caller) -> dict[int, str]:
    """The state of every job by id."""
    return {row["id"]: row["state"] for row in await caller.fetch("select id, state from leasehold.all_jobs")}


async def events(caller: Caller, job_id: int) -> list[tuple[str, int]]:
    """The timeline as (event, attempt)."""
    return [(row["event"], row["attempt"]) for row in await caller.call("get_job_timeline", job_id)]


async def snapshot(caller: Caller) -> tuple[list[str], ...]:
    """All that the functions can change about jobs, to show that something changed nothing."""
    found: list[list[str]] = []
    for table in ("jobs", "finished_jobs", "job_events", "idempotency_keys", "job_blockers", "unique_jobs"):
        found.append([row[0] for row in await caller.fetch(f"select t::text from leasehold.{table} t order by 1")])
    return tuple(found)


async def empty(caller: Scripted) -> None:
    """Forget everything; ids start at 1 again."""
    await caller.execute(EMPTIED)
