"""What a client asks of chains while a worker runs their jobs."""

from __future__ import annotations

import trio

from leasehold import App, ContinueWith, Job
from tests.support.waiting import PATIENCE
from tests.support.working import working


async def test_what_a_worker_returns_is_what_the_wait_returns(database_url: str) -> None:
    app = App()

    @app.kind()
    async def double(number: int) -> int:
        return 2 * number

    @app.kind()
    async def quadruple(number: int) -> ContinueWith[int]:
        return ContinueWith(double.new(2 * number))

    async with working(database_url, app) as here:
        with trio.fail_after(PATIENCE):
            assert await here.client.wait(await here.client.enqueue(double.new(21)), kind=double) == 42
            assert await here.client.wait(await here.client.enqueue(quadruple.new(21)), kind=quadruple) == 84


async def test_a_handler_whose_job_is_completed_or_deleted_from_outside_is_stopped_and_the_worker_goes_on(
    database_url: str,
) -> None:
    app = App()
    begun, stopped = trio.Semaphore(0), trio.Semaphore(0)

    @app.kind()
    async def endless(job: Job) -> None:
        begun.release()
        try:
            await trio.sleep_forever()
        finally:
            stopped.release()

    @app.kind()
    async def after() -> str:
        return "after"

    async with working(database_url, app, renew_seconds=60.0, lease_seconds=180.0) as here:
        client, chains = here.client, here.client.chains
        with trio.fail_after(PATIENCE):
            await here.ready()
            deleted = await client.enqueue(endless.new())
            await begun.acquire()
            await chains.delete(deleted)
            await stopped.acquire()
            chain_id = await client.enqueue(endless.new())
            await begun.acquire()
            await chains.complete(chain_id, continue_with=after.new())
            await stopped.acquire()
            assert await client.wait(chain_id) == "after"
        jobs = await chains.jobs(chain_id)
        assert [(job.kind, job.state) for job in jobs] == [("endless", "completed"), ("after", "completed")]
        assert len(await client.jobs.list()) == len(jobs)
