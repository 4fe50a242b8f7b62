from __future__ import annotations

import threading
import time

import pytest

from leasehold import App, Job
from leasehold.database import Database
from tests.support.sql_guards import expire
from tests.support.waiting import PATIENCE, until
from tests.support.working import without_renewals, working


async def test_a_lost_attempt_knows_why_although_its_own_worker_has_claimed_the_job_again(
    database_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, begun, may_look, reasons = App(), threading.Event(), threading.Event(), list[str | None]()

    @app.kind()
    def stubborn(job: Job) -> int:
        if job.attempt == 1:
            begun.set()
            may_look.wait(PATIENCE)
            until_seen = time.monotonic() + PATIENCE
            while job.cancel_reason is None and time.monotonic() < until_seen:
                time.sleep(0.005)
            reasons.append(job.cancel_reason)
        return job.attempt

    async with working(database_url, app, slots=2, **without_renewals(monkeypatch)) as running:
        job_id = await running.client.enqueue("stubborn")
        await until(begun.is_set)
        await expire(database, job_id)
        await database.call("reap_jobs")
        assert (await running.finished(job_id)).output == 2
        may_look.set()
        await until(lambda: bool(reasons))
    assert reasons == ["taken_by_another_worker"]
