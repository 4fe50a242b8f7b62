from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.database import Database
from leasehold.errors import UnknownJob, WrongState
from tests.support.sql_jobs import enqueue


async def test_a_scheduled_job_runs_now_and_its_new_state_is_told(database: Database) -> None:
    job_id = await enqueue(database, delay=timedelta(hours=1))
    assert await database.call_value("trigger_job", job_id) == "pending"


async def test_any_other_job_is_refused(database: Database) -> None:
    job_id = await enqueue(database)
    with pytest.raises(WrongState, match=f"job {job_id} is pending; only scheduled"):
        await database.call("trigger_job", job_id)
    for missing in (0, 99, None):
        with pytest.raises(UnknownJob, match="no job"):
            await database.call("trigger_job", missing)
