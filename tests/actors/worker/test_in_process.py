"""`leasehold.worker`, under trio and under asyncio, on a real database."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from typing import Any

import pytest
import trio

import leasehold
from leasehold.actors.leases import keeper
from leasehold.database import open_database
from leasehold.errors import ActorFailed, BadInput, ChainFailed, DatabaseUnavailable, SchemaMismatch
from leasehold.events import WorkerStopping
from tests.support.flavours import in_flavour, under_asyncio
from tests.support.working import app_with_a_gate, unhurried

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture(autouse=True)
def has_time_to_end() -> Generator[None]:
    with unhurried():
        yield


class Place:
    """Where a handler ran."""

    thread: int | None = None


def app_that_notes(place: Place) -> leasehold.App:
    app = leasehold.App()

    @app.kind
    async def greet(name: str) -> str:
        await trio.lowlevel.checkpoint()
        place.thread = threading.get_ident()
        return f"hello {name}"

    return app


async def test_under_trio_it_runs_in_the_callers_loop_as_long_as_the_block_lasts(database_url: str) -> None:
    place = Place()
    async with (
        leasehold.worker(app_that_notes(place), database_url, worker_id="inside") as worker_id,
        leasehold.open_client(database_url) as client,
    ):
        job_id = await client.enqueue("greet", {"name": "Ada"})
        assert await client.wait(job_id) == "hello Ada"
        assert (worker_id, (await client.get(job_id)).worker_id) == ("inside", "inside")
        [worker] = await client.workers.list()
        assert (worker.worker_id, worker.slots, worker.state) == ("inside", 3, "ready")
    assert place.thread == threading.get_ident()
    assert await workers_left(database_url) == []


def test_under_asyncio_it_runs_in_a_thread_of_its_own(database_url: str) -> None:
    place = Place()

    async def main() -> None:
        async with (
            leasehold.worker(app_that_notes(place), database_url, slots=7, queues=["default"]),
            leasehold.open_client(database_url) as client,
        ):
            assert await client.wait(await client.enqueue("greet", {"name": "Ada"})) == "hello Ada"
            [worker] = await client.workers.list()
            assert (worker.slots, worker.queues) == (7, ["default"])

    in_flavour("asyncio", main)
    assert place.thread not in (None, threading.get_ident())


@under_asyncio
async def test_under_asyncio_handlers_of_asyncio_run_too(database_url: str) -> None:
    app = leasehold.App(runs="asyncio")

    @app.kind
    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    async with leasehold.worker(app, database_url), leasehold.open_client(database_url, app=app) as client:
        assert await client.wait(await client.enqueue(add.new(a=1, b=2))) == 3


async def test_statements_of_its_handlers_have_the_seconds_that_those_of_its_client_have(database_url: str) -> None:
    app = leasehold.App()

    @app.kind(max_attempts=1)
    async def sleep(job: leasehold.Job) -> None:
        async with job.complete() as tx:
            await tx.execute("select pg_sleep(600)")

    async with leasehold.open_client(database_url, timeout=3) as client, leasehold.worker(app, client):
        with pytest.raises(ChainFailed, match="did not answer in time"):
            await client.wait(await client.enqueue("sleep"))


async def test_at_the_end_of_the_block_running_jobs_may_finish(database_url: str) -> None:
    app, begun, may_end = app_with_a_gate()
    async with leasehold.open_client(database_url) as client:
        async with leasehold.worker(app, database_url):
            job_id = await client.enqueue("wait")
            await trio.to_thread.run_sync(begun.wait)
            may_end.set()
        assert (await client.get(job_id)).state == "completed"


async def test_what_does_not_finish_in_time_is_handed_back(database_url: str) -> None:
    app, begun, _ = app_with_a_gate()
    async with leasehold.open_client(database_url) as client:
        async with leasehold.worker(app, database_url, drain_seconds=0):
            job_id = await client.enqueue("wait")
            await trio.to_thread.run_sync(begun.wait)
        assert (await client.get(job_id)).state == "pending"


async def test_a_block_that_ends_by_an_exception_hands_back_at_once_and_raises_it_as_it_is(database_url: str) -> None:
    app, begun, _ = app_with_a_gate()
    async with leasehold.open_client(database_url) as client:
        job_id = await client.enqueue("wait")
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with leasehold.worker(app, database_url, drain_seconds=3600):
                await trio.to_thread.run_sync(begun.wait)
                raise ZeroDivisionError
        assert (await client.get(job_id)).state == "pending"


@under_asyncio
async def test_so_does_one_under_asyncio(database_url: str) -> None:
    app, begun, _ = app_with_a_gate()
    async with leasehold.open_client(database_url) as client:
        job_id = await client.enqueue("wait")
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with leasehold.worker(app, database_url, drain_seconds=3600):
                await asyncio.to_thread(begun.wait)
                raise ZeroDivisionError
        assert (await client.get(job_id)).state == "pending"


async def test_a_block_that_is_cancelled_hands_back_at_once(database_url: str) -> None:
    app, begun, _ = app_with_a_gate()
    async with leasehold.open_client(database_url) as client:
        job_id = await client.enqueue("wait")
        with trio.CancelScope() as scope:
            async with leasehold.worker(app, database_url, drain_seconds=3600):
                await trio.to_thread.run_sync(begun.wait)
                scope.cancel()
                await trio.sleep_forever()
        assert scope.cancelled_caught
        assert (await client.get(job_id)).state == "pending"


@under_asyncio
async def test_so_is_one_under_asyncio_also_while_it_drains(database_url: str) -> None:
    app, begun, _ = app_with_a_gate()
    drains = threading.Event()
    app.subscribe(WorkerStopping, lambda _: drains.set())

    async def block(client: leasehold.Client) -> None:
        async with leasehold.worker(app, database_url, drain_seconds=3600):
            await client.enqueue("wait")
            await asyncio.to_thread(begun.wait)

    async with leasehold.open_client(database_url) as client:
        draining = asyncio.create_task(block(client))
        await asyncio.to_thread(drains.wait)
        draining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await draining
        assert [job.state for job in await client.jobs.list()] == ["pending"]


async def test_a_worker_that_cannot_go_on_cancels_the_block_and_says_why(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_keeper(monkeypatch)
    with pytest.raises(ActorFailed, match=r"lease keeper failed: .*it broke"):
        async with leasehold.worker(leasehold_app(), database_url):
            await trio.sleep_forever()


@under_asyncio
async def test_so_it_does_under_asyncio(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    break_keeper(monkeypatch)
    with pytest.raises(ActorFailed, match=r"lease keeper failed: .*it broke"):
        async with leasehold.worker(leasehold_app(), database_url):
            await asyncio.Event().wait()
    assert asyncio.current_task() is not None
    await asyncio.sleep(0)  # nobody cancels us any more


@pytest.mark.parametrize("runs", ["trio", "asyncio"])
def test_it_goes_on_from_start_to_stop_without_a_block(database_url: str, runs: str) -> None:
    async def main() -> None:
        worker = leasehold.worker(leasehold_app(), database_url, worker_id="hooked")
        async with leasehold.open_client(database_url) as client:
            assert await worker.start() == "hooked"
            with pytest.raises(BadInput, match="runs already"):
                await worker.start()
            assert await client.wait(await client.enqueue("greet", {"name": "Ada"})) == "hello Ada"
            await worker.stop()
            assert await client.workers.list() == []
            with pytest.raises(BadInput, match="has not been started"):
                await worker.stop()
            await worker.start()
            await worker.stop()

    in_flavour(runs, main)


async def test_it_may_be_stopped_in_another_task_and_running_jobs_may_finish(database_url: str) -> None:
    app, begun, may_end = app_with_a_gate()
    worker = leasehold.worker(app, database_url)
    async with leasehold.open_client(database_url) as client:
        job_id = await client.enqueue("wait")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.start)
        await trio.to_thread.run_sync(begun.wait)
        may_end.set()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.stop)
        assert (await client.get(job_id)).state == "completed"


@pytest.mark.parametrize("runs", ["trio", "asyncio"])
def test_one_that_cannot_go_on_says_why_when_it_is_stopped(
    database_url: str, monkeypatch: pytest.MonkeyPatch, runs: str
) -> None:
    has_broken = break_keeper(monkeypatch)

    async def main() -> None:
        worker = leasehold.worker(leasehold_app(), database_url)
        await worker.start()
        if runs == "trio":
            await trio.to_thread.run_sync(has_broken.wait)
        else:
            await asyncio.to_thread(has_broken.wait)
        with pytest.raises(ActorFailed, match=r"failed: .*it broke"):
            await worker.stop()

    in_flavour(runs, main)


@pytest.mark.parametrize("runs", ["trio", "asyncio"])
def test_what_keeps_it_from_starting_comes_out_as_it_is(empty_database_url: str, runs: str) -> None:
    async def main() -> None:
        for url, error in ((NOWHERE, DatabaseUnavailable), (empty_database_url, SchemaMismatch)):
            with pytest.raises(error):
                async with leasehold.worker(leasehold_app(), url):
                    raise AssertionError("it must not begin")
            with pytest.raises(error):
                await leasehold.worker(leasehold_app(), url).start()

    in_flavour(runs, main)


async def test_what_makes_no_sense_is_refused(database_url: str) -> None:
    with pytest.raises(BadInput, match="the app has no handler"):
        async with leasehold.worker(leasehold.App(), database_url):
            pass
    given: Any
    for given in ({"slots": 0}, {"slots": "many"}, {"drain_seconds": -1}, {"queues": [""]}):
        with pytest.raises(BadInput, match=rf"a worker cannot be made so: .*\$\.{next(iter(given))}"):
            async with leasehold.worker(leasehold_app(), database_url, **given):
                pass


async def test_without_a_database_the_environment_says_all_that_it_says_to_a_worker_of_its_own(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEASEHOLD_DATABASE_URL", database_url)
    monkeypatch.setenv("LEASEHOLD_SLOTS", "5")
    monkeypatch.setenv("WORKER_ID", "from-the-environment")
    async with (
        leasehold.worker(leasehold_app()) as one,
        leasehold.worker(leasehold_app(), worker_id="two", slots=1) as two,
    ):
        assert (one, two) == ("from-the-environment", "two")
        async with leasehold.open_client(database_url) as client:
            assert {each.worker_id: each.slots for each in await client.workers.list()} == {one: 5, two: 1}


def leasehold_app() -> leasehold.App:
    return app_that_notes(Place())


def break_keeper(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    has_broken = threading.Event()

    async def broken(*_: object) -> None:
        has_broken.set()
        raise RuntimeError("it broke")

    monkeypatch.setattr(keeper.Keeper, "renew_due", broken)
    return has_broken


async def workers_left(database_url: str) -> list[Any]:
    async with open_database(database_url) as database:
        return await database.fetch("select 1 from leasehold.workers where stopped_at is null")
