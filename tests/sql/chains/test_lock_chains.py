from __future__ import annotations

from collections.abc import Awaitable, Callable

from leasehold.database import Caller, Database
from tests.support.sql_chains import continued, ended
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import meet
from tests.support.sql_worker import SqlWorker

Locked = list[tuple[int, int, bool]]


async def test_it_names_the_last_job_of_each_chain_and_leaves_out_what_is_none(
    database: Database, worker: SqlWorker
) -> None:
    first, second = await continued(database, worker, "pay", "pack")
    over = await ended(database, worker, "failed")
    rows = await database.call("lock_chains", [first, over, over, 99, second, None])
    assert sorted(tuple(row) for row in rows) == [(first, second, True), (over, over, False)]
    assert await database.call("lock_chains", []) == []


async def locked_after(database: Database, chain_id: int, change: Callable[[Caller], Awaitable[object]]) -> Locked:
    """What is locked by whoever comes while another session has made a change and not yet committed it."""
    rows = await meet(database, change, lambda second: second.call("lock_chains", [chain_id]))
    return [tuple(row) for row in rows]


async def test_a_chain_that_goes_on_or_ends_while_we_wait_is_locked_where_it_stands_then(
    database: Database, worker: SqlWorker
) -> None:
    chain_id = await enqueue(database)
    claimed = await worker.claim()
    go_on = [{"next": {"kind": "next"}}]
    [(_, last, is_open)] = await locked_after(
        database, chain_id, lambda it: worker.over(it).continue_with(claimed, go_on)
    )
    assert (last > chain_id, is_open) == (True, True)
    claimed = await worker.claim()
    over = await locked_after(database, chain_id, lambda it: worker.over(it).complete(claimed))
    assert over == [(chain_id, last, False)]


async def test_a_chain_that_is_retried_while_we_wait_is_locked_as_open(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "failed")
    locked = await locked_after(database, chain_id, lambda it: it.call("retry_job", chain_id))
    assert locked == [(chain_id, chain_id, True)]


async def test_a_failed_chain_cannot_be_retried_meanwhile(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "failed")
    state = await meet(
        database,
        lambda first: first.call("lock_chains", [chain_id]),
        lambda second: second.call_value("retry_job", chain_id),
    )
    assert state == "pending"
