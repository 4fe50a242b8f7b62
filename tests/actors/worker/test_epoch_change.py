from __future__ import annotations

import pytest
import trio

from leasehold.app import App
from leasehold.client import Client
from leasehold.database import open_database
from leasehold.jobs.job import Job
from tests.support.epochs import FAIL_OVER, fail_over
from tests.support.waiting import eventually, until
from tests.support.working import working

CUT = """
select pg_terminate_backend(pid) from pg_stat_activity
 where datname = current_database() and pid <> pg_backend_pid() and application_name like 'test w1%'
"""
WORKERS = "select state, incarnation from leasehold.workers order by started_at"


class Stage:
    """A kind whose handlers wait to be let go, and what became of them."""

    def __init__(self) -> None:
        self.app = App()
        self.may_end = trio.Event()
        self.started: list[int] = []
        self.ended: dict[int, str | None] = {}
        self.app.kind("wait")(self.wait)

    async def wait(self, job: Job) -> int:
        self.started.append(job.id)
        try:
            await self.may_end.wait()
        finally:
            self.ended[job.id] = job.cancel_reason
        return job.attempt


@pytest.mark.parametrize("is_cut", [True, False], ids=["connections cut", "a pooler keeps them"])
async def test_a_worker_keeps_what_is_its_own_and_stops_what_the_database_does_not_know(
    fresh_database_url: str, is_cut: bool
) -> None:
    stage = Stage()
    async with open_database(fresh_database_url) as other, working(fresh_database_url, stage.app) as running:
        running.client = Client(other)  # the worker's pool is refused between two epochs
        kept, lost, ended = [await running.client.enqueue("wait") for _ in range(3)]
        await until(lambda: len(stage.started) == 3)
        before = running.worker.parts.identity.incarnation
        await running.client.queues.pause("default")  # so that nobody claims in the old epoch what begins anew
        await other.execute(  # one transaction: nobody may miss the jobs in the former epoch
            f"delete from leasehold.jobs where id = {lost};"
            f"update leasehold.jobs set state = 'pending', started_at = null, heartbeat_at = null, claimed_at = null,"
            f" lease_expires_at = null, incarnation = null, worker_id = null, attempt = 0 where id = {ended};"
            f"{FAIL_OVER}"
        )
        if is_cut:
            await other.fetch(CUT)
        else:
            running.worker.parts.dispatcher.wake()
        await until(lambda: {lost, ended} <= stage.ended.keys())
        assert (stage.ended[lost], stage.ended[ended]) == ("not_found", "taken_by_another_worker")

        stage.may_end.set()
        await running.client.queues.resume("default")
        assert (await running.finished(kept)).output == 1
        assert (await running.finished(ended)).output == 1
        assert (await running.run("wait")).output == 1

        rows = await other.fetch(WORKERS)
        assert [row["state"] for row in rows] == ["stopped", "ready"]
        assert rows[0]["incarnation"] == before

        async def reported() -> bool:
            [epoch] = await other.call("list_epochs", 1)
            return epoch["lost_job_ids"] == [lost]

        await eventually(reported)


async def test_a_worker_that_is_only_starting_goes_into_the_new_epoch_and_works(fresh_database_url: str) -> None:
    stage = Stage()
    stage.may_end.set()
    async with open_database(fresh_database_url) as other, working(fresh_database_url, stage.app) as running:
        running.client = Client(other)
        job = await running.client.enqueue("wait")
        await fail_over(other)
        assert (await running.finished(job)).output == 1
