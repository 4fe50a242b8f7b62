from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_chains import continued, ended
from tests.support.sql_jobs import empty, enqueue, events, snapshot, states
from tests.support.sql_worker import SqlWorker


async def test_a_pending_job_goes_and_one_event_remains(database: Database) -> None:
    first, second = await enqueue(database), await enqueue(database)
    assert await database.call_value("delete_job", first) == "pending"
    assert await states(database) == {second: "pending"}
    assert await events(database, first) == [("deleted", 0)]


async def test_a_finished_job_goes(database: Database, worker: SqlWorker, subtests: pytest.Subtests) -> None:
    for over in ["completed", "failed", "cancelled"]:
        await empty(database)
        with subtests.test(over=over):
            job_id = await ended(database, worker, over)
            assert await database.call_value("delete_job", job_id) == over
            assert await states(database) == {}


async def test_the_next_job_of_its_key_moves_up(database: Database) -> None:
    first, second = [await enqueue(database, key="k") for _ in range(2)]
    await database.call("delete_job", first)
    assert await states(database) == {second: "pending"}


async def test_what_a_worker_holds_stays(database: Database, worker: SqlWorker) -> None:
    job_id = await enqueue(database)
    await worker.claim_one()
    before = await snapshot(database)
    with pytest.raises(WrongState, match=rf"job {job_id} is claimed and cannot be deleted: a worker holds it \(cancel"):
        await database.call("delete_job", job_id)
    assert await snapshot(database) == before


async def test_one_job_of_several_in_a_chain_stays(database: Database, worker: SqlWorker) -> None:
    chain = await continued(database, worker, "pay", "pack")
    for job_id in chain:
        with pytest.raises(WrongState, match=rf"job {job_id} cannot be deleted: chain {chain[0]} has other jobs, too"):
            await database.call("delete_job", job_id)


async def test_what_another_job_waits_for_stays(database: Database) -> None:
    part = await enqueue(database)
    whole = await enqueue(database, "whole", blockers=[part])
    with pytest.raises(WrongState, match=rf"job {whole} \(whole\) waits for it"):
        await database.call("delete_job", part)


async def test_what_is_not_there_is_unknown(database: Database) -> None:
    with pytest.raises(UnknownJob, match="there is no job 99"):
        await database.call("delete_job", 99)
