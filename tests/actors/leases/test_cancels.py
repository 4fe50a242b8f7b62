"""A handler that is cancelled can say what was said with the cancel."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import trio

import leasehold
from leasehold import App, Job
from leasehold.actors.leases import cancels
from leasehold.jobs.middleware import Attempt, CallNext
from leasehold.observability.context import acting_as
from tests.support.callers import FragileCaller
from tests.support.waiting import PATIENCE, until
from tests.support.working import Working, working

FLAVOURS = ("trio", "asyncio", "thread", "process")
Heard = dict[str, list[Any]]


def sleep_for_ever() -> None:
    while True:
        time.sleep(0.01)


def make_app(heard: Heard) -> App:
    """Handlers that run until they are cancelled, and note what they then know. For that of a process a middleware does."""
    app = App()

    def note(job: Job) -> None:
        heard.setdefault(job.kind, []).append((job.cancel_reason, job.cancel_message, job.cancelled_by))

    @app.kind("trio")
    async def in_trio(job: Job) -> None:
        try:
            await trio.sleep_forever()
        finally:
            note(job)

    @app.kind("asyncio", runs="asyncio")
    async def in_asyncio(job: Job) -> None:
        try:
            await asyncio.sleep(600)
        finally:
            note(job)

    @app.kind("thread")
    def in_a_thread(job: Job) -> None:
        assert (job.cancel_message, job.cancelled_by) == (None, None)
        while job.cancel_reason is None:
            time.sleep(0.001)
        note(job)
        leasehold.checkpoint()

    async def noting(attempt: Attempt, call_next: CallNext) -> Any:
        try:
            return await call_next()
        finally:
            note(attempt.job)

    app.kind("process", runs="process", middlewares=[noting])(sleep_for_ever)
    return app


@pytest.fixture
def heard() -> Heard:
    return {}


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the text comes later."""
    if request.function is not test_where_nobody_answers_it_is_cancelled_all_the_same:
        monkeypatch.setattr(cancels, "READ_SECONDS", PATIENCE)


@pytest.fixture
async def running(database_url: str, heard: Heard) -> AsyncGenerator[Working]:
    async with working(database_url, make_app(heard), slots=len(FLAVOURS)) as running:
        yield running


async def started(running: Working, *kinds: str) -> list[int]:
    """The ids of jobs whose handlers run."""
    await running.ready()
    jobs = [await running.client.enqueue(kind) for kind in kinds]
    held = running.worker.parts.holdings
    await until(lambda: all(job in held and held[job].shown for job in jobs))
    return jobs


async def test_it_knows_the_message_and_who_wrote_it(running: Working, heard: Heard) -> None:
    for job_id in await started(running, *FLAVOURS):
        with acting_as("ops"):
            await running.client.cancel(job_id, "wrong shop: äöü")
    await until(lambda: len(heard) == len(FLAVOURS))
    assert heard == {kind: [("cancelled", "wrong shop: äöü", "ops")] for kind in FLAVOURS}


async def test_several_that_are_cancelled_together_each_know_their_own(running: Working, heard: Heard) -> None:
    jobs = await started(running, *["trio"] * 3)
    async with running.database.transaction() as transaction:
        for job_id in jobs:
            await transaction.call("cancel_job", job_id, f"as {job_id}")
    await until(lambda: len(heard.get("trio", ())) == 3)
    assert sorted(heard["trio"]) == [("cancelled", f"as {job_id}", None) for job_id in jobs]


async def test_where_no_reason_was_given_it_says_so(running: Working, heard: Heard) -> None:
    for job_id in await started(running, "trio"):
        await running.client.cancel(job_id)
    await until(lambda: bool(heard))
    assert heard == {"trio": [("cancelled", "cancelled by hand", None)]}


async def test_a_command_to_the_worker_is_named(running: Working, heard: Heard) -> None:
    (job_id,) = await started(running, "trio")
    await running.client.workers.command("w1", "cancel_job", {"job_id": job_id})
    await until(lambda: bool(heard))
    assert heard == {"trio": [("cancelled", "by a command to worker w1", None)]}


async def test_without_notifications_the_renewal_brings_it(database_url: str, heard: Heard) -> None:
    async with working(database_url, make_app(heard), notify=False, renew_seconds=0.3) as running:
        for job_id in await started(running, "trio"):
            await running.client.cancel(job_id, "wrong shop")
        await until(lambda: bool(heard))
    assert heard == {"trio": [("cancelled", "wrong shop", None)]}


async def test_where_nobody_answers_it_is_cancelled_all_the_same(running: Working, heard: Heard) -> None:
    (job_id,) = await started(running, "trio")
    async with running.database.transaction() as transaction:
        await transaction.execute("lock table leasehold.job_events in access exclusive mode")
        await transaction.call("cancel_job", job_id, "nobody will read this")
        held = running.worker.parts.holdings[job_id]
        running.worker.parts.cancels.lose(held, "cancelled")
        await until(lambda: bool(heard))
    assert heard == {"trio": [("cancelled", None, None)]}


async def test_a_database_that_refuses_ends_nobody(running: Working, heard: Heard) -> None:
    (job_id,) = await started(running, "trio")
    await running.database.execute("alter function leasehold.list_cancels(bigint[]) rename to away")
    try:
        await running.client.cancel(job_id, "nobody can read this")
        await until(lambda: bool(heard))
    finally:
        await running.database.execute("alter function leasehold.away(bigint[]) rename to list_cancels")
    for other in await started(running, "trio"):
        await running.client.cancel(other, "wrong shop")
    await until(lambda: len(heard["trio"]) == 2)
    assert heard == {"trio": [("cancelled", None, None), ("cancelled", "wrong shop", None)]}


async def test_of_a_job_that_is_given_up_several_times_it_is_asked_once(running: Working, heard: Heard) -> None:
    (job_id,) = await started(running, "trio")
    parts = running.worker.parts
    held, asked = parts.holdings[job_id], FragileCaller(running.database)
    watched = cancels.Cancels(asked)
    for _ in range(3):
        watched.lose(held, "cancelled")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watched.run)
        await until(lambda: bool(heard))
        nursery.cancel_scope.cancel()
    assert asked.calls == ["list_cancels"]
