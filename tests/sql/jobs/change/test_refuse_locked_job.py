from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import RowLocked
from tests.support.sql_holders import pid_of, row_held
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_the_session_that_holds_the_job_is_named(database: Database, worker: SqlWorker) -> None:
    await enqueue(database)
    claimed = await worker.claim()
    async with row_held(database, worker, claimed[0]) as holder:
        with pytest.raises(RowLocked, match=rf"^job 1 cannot be sold now: session {await pid_of(holder)} .*try again"):
            await database.call("refuse_locked_job", 1, "sold")


async def test_where_the_row_is_free_it_was_another_lock(database: Database) -> None:
    await enqueue(database)
    with pytest.raises(RowLocked, match="job 1 cannot be sold now: another session holds a lock that this needs"):
        await database.call("refuse_locked_job", 1, "sold")
