from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import heard
from tests.support.sql_worker import SqlWorker, ids


async def test_a_resumed_queue_is_claimed_from(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    await database.call("pause_queue", "default")
    assert await database.call_value("resume_queue", "default") is True
    assert ids(await worker.claim()) == [1]


async def test_its_workers_are_woken(database: Database) -> None:
    await database.call("pause_queue", "q")
    assert await heard(database, lambda: database.call("resume_queue", "q")) == ["wake:q"]


async def test_resuming_what_is_not_paused_changes_nothing(database: Database) -> None:
    assert await database.call_value("resume_queue", "never heard of") is False
    await database.call("pause_queue", "q")
    await database.call("resume_queue", "q")
    assert await database.call_value("resume_queue", "q") is False


async def test_it_can_be_paused_again_for_another_reason(database: Database) -> None:
    await database.call("pause_queue", "q", "one")
    await database.call("resume_queue", "q")
    assert await database.call_value("pause_queue", "q", "two") is True
    assert (await database.fetch("select reason from leasehold.queues"))[0][0] == "two"
