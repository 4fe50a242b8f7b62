from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_jobs import enqueue
from tests.support.sql_worker import SqlWorker


async def test_the_state_of_a_finished_job_is_named(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given())
    with pytest.raises(WrongState, match=r"^job 1 is completed and cannot be painted$"):
        await database.call("refuse_finished_job", 1, "painted")


async def test_so_is_that_of_a_job_which_somebody_has_just_revived(database: Database) -> None:
    await enqueue(database)
    with pytest.raises(WrongState, match=r"^job 1 is pending and cannot be painted$"):
        await database.call("refuse_finished_job", 1, "painted")


async def test_a_job_that_never_was_is_unknown(database: Database) -> None:
    with pytest.raises(UnknownJob, match=r"^there is no job 1$"):
        await database.call("refuse_finished_job", 1, "painted")
