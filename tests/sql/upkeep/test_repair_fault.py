from __future__ import annotations

import pytest
import trio

from leasehold.database import Database
from tests.support.sql_jobs import empty, enqueue, events, snapshot, state
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import PATIENCE


async def repair(database: Database, finding: str, job_id: int | None, subject: str = "job 1") -> object:
    return await database.call_value("repair_fault", finding, job_id, subject, "because")


async def test_a_fault_is_repaired_and_noted(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '70 s'")
    assert await repair(database, "held_by_nobody", 1) is True
    assert await state(database, 1) == "pending"
    assert [event for event, _ in await events(database, 1)] == ["created", "claimed", "reaped", "audited"]


async def test_what_somebody_has_locked_is_not_repaired_and_not_waited_for(
    database: Database, worker: SqlWorker
) -> None:
    await worker.given()
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '70 s'")
    async with open_transaction(database, "owner") as owner:
        await owner.fetch("select from leasehold.jobs for update")
        with trio.fail_after(PATIENCE):
            assert await repair(database, "held_by_nobody", 1) is False
    assert await state(database, 1) == "claimed"


async def test_nothing_is_done_about_what_it_does_not_know(database: Database, subtests: pytest.Subtests) -> None:
    for finding in ["blocked_for_ever", "two_tails", "open_and_finished", "unheard of"]:
        await empty(database)
        with subtests.test(finding=finding):
            await enqueue(database)
            before = await snapshot(database)
            assert await repair(database, finding, 1) is False
            assert await snapshot(database) == before


async def test_a_fault_that_is_gone_by_now_counts_as_repaired(database: Database) -> None:
    await enqueue(database)
    for finding in ("held_by_nobody", "overdue", "deadline_missed", "waiting_for_nobody", "blocked_by_nothing"):
        assert await repair(database, finding, 1) is True
        assert await repair(database, finding, 77, "job 77") is True
    assert await state(database, 1) == "pending"


async def test_partitions_are_made_and_filled_and_each_finding_is_repaired(fresh_database: Database) -> None:
    database = fresh_database
    await database.call("ensure_partitions")
    (row,) = await database.fetch("select to_char(now() at time zone 'UTC', 'YYYYMMDD') as today")
    await database.execute(f"drop table leasehold.job_events_{row['today']}, leasehold.finished_jobs_{row['today']}")
    await enqueue(database)
    await database.call("cancel_job", 1)
    rows = await database.call("repair_jobs")
    assert len(rows) == 3
    assert {row["is_repaired"] for row in rows} == {True}
    assert await database.call("audit_jobs") == []
    assert await state(database, 1) == "cancelled"
