"""Every reason in a situation that it comes from; the parts of explain_job are tested in files of their own, too."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob
from tests.support.sql_edges import enqueue_blocked
from tests.support.sql_jobs import enqueue, snapshot
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker


async def test_a_job_that_does_not_exist_is_no_job(database: Database) -> None:
    with pytest.raises(UnknownJob):
        await database.call("explain_job", 7)


async def test_with_an_idle_worker_nothing_is_in_its_way(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await worker.claim()
    await enqueue(database)
    row = await because(database, 1, "idle_worker")
    assert (
        row["explanation"]
        == "nothing is in its way: 1 worker(s) with a free slot serve it and take it with their next poll"
    )
    assert json.loads(row["facts"]) == {"workers": ["w1"]}
    assert await reasons(database, 1) == ["idle_worker"]


async def test_every_state_has_an_answer(database: Database, worker: SqlWorker) -> None:
    for number in range(2):
        await enqueue(database, kind="line", key="k", priority=-number)
    await enqueue(database, kind="later", delay=timedelta(seconds=60))
    await enqueue(database, kind="running")
    await worker.start(await worker.claim(kinds=["running"]))
    await enqueue_blocked(database, [3])
    for kind in ("completed", "failed", "cancelled"):
        await enqueue(database, kind=kind)
    await worker.complete(await worker.claim(kinds=["completed"]))
    await worker.fail(await worker.claim(kinds=["failed"]), discard=[True])
    await database.call("cancel_job", 8)
    firsts = {row["state"]: (await reasons(database, row["id"]))[0] for row in await database.call("list_jobs")}
    assert firsts == {
        "pending": "unserved",
        "waiting": "unserved",
        "scheduled": "scheduled",
        "running": "running",
        "blocked": "blocked",
        "completed": "completed",
        "failed": "failed",
        "cancelled": "cancelled",
    }


async def test_a_deadline_comes_last_and_not_for_what_has_ended(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, deadline=datetime(2999, 1, 1, tzinfo=UTC))
    row = await because(database, 1, "deadline")
    assert row["explanation"] == "unless it has ended by 2999-01-01 00:00:00+00, it fails"
    assert row["until"] == datetime(2999, 1, 1, tzinfo=UTC)
    assert (await reasons(database, 1))[-1] == "deadline"
    claimed = await worker.claim()
    assert await reasons(database, 1) == ["claimed", "deadline"]
    await worker.complete(claimed)
    assert await reasons(database, 1) == ["completed"]


async def test_a_link_says_which_chain_it_continues(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await worker.continue_with(await worker.claim(), [{"next": {"kind": "second"}}])
    assert await reasons(database, 1) == ["completed"]
    assert (await because(database, 1, "completed"))["explanation"].endswith("and job 2 continues its chain")
    assert await reasons(database, 2) == ["unserved", "chain"]
    assert await facts(database, 2, "chain") == {"chain_id": 1, "chain_position": 1}


async def test_asking_changes_nothing_and_waits_for_nobody(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    for _ in range(2):
        await enqueue(database, key="k")
    await enqueue_blocked(database, [1])
    before = await snapshot(database)
    async with open_transaction(database, "owner") as owner:
        await owner.execute(
            "select 1 from leasehold.jobs for update; select 1 from leasehold.workers for update;"
            "lock table leasehold.jobs in exclusive mode; select pg_advisory_xact_lock(leasehold.key_lock('k'))"
        )
        for job_id in (1, 2, 3):
            assert await reasons(database, job_id)
    assert await snapshot(database) == before


async def test_times_are_in_utc_whatever_the_session_says(database: Database) -> None:
    async with database.reserve("elsewhere") as connection:
        await connection.execute("set timezone = 'Asia/Tokyo'")
        await freeze(connection, "2026-03-01 12:00Z")
        await enqueue(connection, delay=timedelta(seconds=60))
        row = await because(connection, 1, "scheduled")
        assert row["explanation"] == "its time is 2026-03-01 12:01:00+00, in 60 s"
