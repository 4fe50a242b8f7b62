from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_worker import SqlWorker


async def test_pausing_is_noted_with_its_reason_and_time(database: Database) -> None:
    assert await database.call_value("pause_queue", "q", "shop is down") is True
    (row,) = await database.fetch("select queue, reason, paused_at is not null from leasehold.queues")
    assert tuple(row) == ("q", "shop is down", True)


async def test_pausing_twice_changes_nothing(database: Database) -> None:
    await database.call("pause_queue", "q", "first")
    before = await database.fetch("select * from leasehold.queues")
    assert await database.call_value("pause_queue", "q", "second") is False
    assert await database.fetch("select * from leasehold.queues") == before


async def test_running_jobs_go_on_and_new_ones_may_be_enqueued(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.claim()
    await database.call("pause_queue", "default")
    await enqueue(database)
    assert await worker.renew(claimed) == {}
    assert await worker.complete(claimed) == {}
    assert await worker.claim() == []
    assert await states(database) == {1: "completed", 2: "pending"}


@pytest.mark.parametrize("queue", ["", None])
async def test_a_queue_must_be_named(database: Database, queue: str | None) -> None:
    with pytest.raises(BadInput, match="a queue to pause must be named"):
        await database.call("pause_queue", queue)


async def test_workers_are_told_once(database: Database) -> None:
    async def pause_twice() -> None:
        await database.call("pause_queue", "q: 1")
        await database.call("pause_queue", "q: 1")

    assert await heard(database, pause_twice) == ["pause:q: 1"]
