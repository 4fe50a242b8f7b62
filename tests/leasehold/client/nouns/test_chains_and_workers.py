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


async def test_a_handler_whose_job_is_completed_from_outside_is_stopped_and_the_worker_goes_on(
    database_url: str,
) -> None:
    app = App()
    begun, stopped = trio.Event(), trio.Event()

    @app.kind()
    async def endless(job: Job) -> None:
        begun.set()
        try:
            await trio.sleep_forever()
        finally:
            stopped.set()

    @app.kind()
    async def after() -> str:
        return "after"

    async with working(database_url, app, renew_seconds=60.0, lease_seconds=180.0) as here:
        with trio.fail_after(PATIENCE):
            await here.ready()
            chain_id = await here.client.enqueue(endless.new())
            await begun.wait()
            await here.client.chains.complete(chain_id, continue_with=after.new())
            await stopped.wait()
            assert await here.client.wait(chain_id) == "after"
        jobs = await here.client.chains.jobs(chain_id)
        assert [(job.kind, job.state) for job in jobs] == [("endless", "completed"), ("after", "completed")]


async def test_a_handler_whose_chain_is_deleted_is_stopped(database_url: str) -> None:
    app = App()
    begun, stopped = trio.Event(), trio.Event()

    @app.kind()
    async def endless() -> None:
        begun.set()
        try:
            await trio.sleep_forever()
        finally:
            stopped.set()

    async with working(database_url, app, renew_seconds=60.0, lease_seconds=180.0) as here:
        with trio.fail_after(PATIENCE):
            await here.ready()
            chain_id = await here.client.enqueue(endless.new())
            await begun.wait()
            await here.client.chains.delete(chain_id)
            await stopped.wait()
        assert await here.client.jobs.list() == []
