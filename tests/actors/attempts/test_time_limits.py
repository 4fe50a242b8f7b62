"""Timeouts, deadlines and cancellations: what ends a handler, what it is told, and what becomes of its job."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
import trio

import leasehold
from leasehold import App, Client, Discard, Job, RetryPolicy
from leasehold.database import Database
from leasehold.errors import BadInput
from leasehold.jobs.new_job import NewJob
from leasehold.records.jobs import JobRecord
from tests.support.sql_guards import expire
from tests.support.waiting import until
from tests.support.working import Working, a_reaper, working

FLAVOURS = ("trio", "asyncio", "thread")

Reasons = list[str | None]


def make_app(reasons: Reasons, begun: list[int]) -> App:
    """Handlers that note that they have begun, wait for ever, and note why they were cancelled."""
    app = App()

    @app.kind("trio", retry=RetryPolicy(initial=3600))
    async def in_trio(job: Job) -> None:
        assert job.cancel_reason is None
        begun.append(job.id)
        try:
            await trio.sleep_forever()
        finally:
            reasons.append(job.cancel_reason)

    @app.kind("asyncio", runs="asyncio")
    async def in_asyncio(job: Job) -> None:
        assert job.cancel_reason is None
        begun.append(job.id)
        try:
            await asyncio.sleep(600)
        finally:
            reasons.append(job.cancel_reason)

    @app.kind("thread")
    def in_a_thread(job: Job) -> None:
        assert job.cancel_reason is None
        begun.append(job.id)
        try:
            while True:
                leasehold.checkpoint()
                time.sleep(0.005)
        finally:
            reasons.append(job.cancel_reason)

    @app.kind()
    def stubborn(job: Job) -> str:
        with job.complete() as tx:
            tx.execute("create table public.too_late ()")
        begun.append(job.id)
        while job.cancel_reason is None:
            time.sleep(0.005)
        return "done all the same"

    @app.kind(runs="asyncio")
    async def discards_in_a_group() -> None:
        async def child() -> None:
            raise Discard("not wanted")

        async with asyncio.TaskGroup() as group:
            group.create_task(child())

    @app.kind(timeout=0.05)
    async def short() -> None:
        await trio.sleep_forever()

    @app.kind(timeout=0.02)
    async def nap() -> str:
        await trio.sleep(0.1)
        return "rested"

    @app.kind(deadline=0.3)
    async def punctual() -> None:
        await trio.sleep_forever()

    return app


@pytest.fixture
def reasons() -> Reasons:
    return []


@pytest.fixture
def begun() -> list[int]:
    return []


@pytest.fixture
async def running(database_url: str, reasons: Reasons, begun: list[int]) -> AsyncGenerator[Working]:
    async with working(database_url, make_app(reasons, begun)) as running:
        yield running


async def started(running: Working, begun: list[int], kind: str) -> int:
    """The id of a job whose handler runs."""
    job_id = await running.client.enqueue(kind)
    await until(lambda: job_id in begun)
    return job_id


async def overrun(running: Working, begun: list[int], kind: str, limit: str, **options: Any) -> tuple[JobRecord, float]:
    """A job that ran into this limit, of so many seconds; on a busy machine its handler begins in time for a longer one."""
    for seconds in (0.1, 1.0, 10.0):
        job = await running.run(kind, **{limit: timedelta(seconds=seconds)}, **options)
        if job.id in begun:
            return job, seconds
    raise AssertionError(f"no handler began before its {limit}")


# What a job may have of its own.


async def test_a_job_has_a_timeout_of_its_own(running: Working, reasons: Reasons, begun: list[int]) -> None:
    for kind in FLAVOURS:
        job, seconds = await overrun(running, begun, kind, "timeout", max_attempts=1)
        assert (job.state, job.error["type"]) == ("failed", "TimedOut")
        assert job.error["message"] == f"the handler was cancelled after its timeout of {seconds} s"
        assert reasons == ["timeout"]
        reasons.clear()


async def test_an_attempt_that_timed_out_is_tried_again(running: Working) -> None:
    job_id = await running.client.enqueue("trio", timeout=timedelta(milliseconds=50))
    job = await running.in_state(job_id, "scheduled")
    assert (job.attempt, job.error["type"]) == (1, "TimedOut")


async def test_the_timeout_of_a_job_goes_over_that_of_its_kind_in_both_directions(running: Working) -> None:
    assert (await running.run("nap", timeout=600)).output == "rested"
    job = await running.run("short", timeout=0.01, max_attempts=1)
    assert "timeout of 0.01 s" in job.error["message"]


async def test_at_its_deadline_a_running_job_fails_for_good(
    running: Working, reasons: Reasons, begun: list[int]
) -> None:
    for kind in FLAVOURS:
        job, seconds = await overrun(running, begun, kind, "deadline")
        assert (job.state, job.error["type"], job.attempt) == ("failed", "DeadlineExceeded", 1)
        assert reasons == ["deadline"]
        reasons.clear()
        assert job.finished_at is not None
        assert (job.finished_at - job.created_at).total_seconds() >= seconds


async def test_what_a_thread_finishes_after_its_timeout_counts_and_after_its_deadline_does_not(
    running: Working, begun: list[int]
) -> None:
    job, _ = await overrun(running, begun, "stubborn", "deadline")
    assert (job.state, job.error["type"], job.output) == ("failed", "DeadlineExceeded", None)
    job, _ = await overrun(running, begun, "stubborn", "timeout", max_attempts=1)
    assert (job.state, job.output) == ("completed", "done all the same")  # the table was not there already


async def test_a_discard_in_a_task_group_is_a_discard(running: Working) -> None:
    job = await running.run("discards_in_a_group")
    assert (job.state, job.attempt, job.error["message"]) == ("failed", 1, "not wanted")


async def test_the_earlier_of_timeout_and_deadline_counts(running: Working) -> None:
    job = await running.run("trio", timeout=0.05, deadline=timedelta(hours=1), max_attempts=1)
    assert job.error["type"] == "TimedOut"
    job = await running.run("trio", timeout=3600, deadline=timedelta(seconds=0.2))
    assert job.error["type"] == "DeadlineExceeded"


async def test_a_kind_gives_its_jobs_a_deadline(database_url: str, reasons: Reasons) -> None:
    app = make_app(reasons, [])
    async with working(database_url, app) as running:
        punctual = app.find("punctual")
        job = await running.finished(await running.client.enqueue(punctual.new()))
        assert (job.state, job.error["type"]) == ("failed", "DeadlineExceeded")
        late = await running.client.enqueue(punctual.new(), deadline=timedelta(hours=1))
        (row,) = await running.database.fetch(
            "select extract(epoch from deadline - created_at)::float8 as s from leasehold.jobs where id = $1", late
        )
        assert row["s"] == 3600


async def test_a_deadline_may_be_a_time(running: Working) -> None:
    job_id = await running.client.enqueue("trio", deadline=datetime.now(UTC) + timedelta(seconds=0.3))
    assert (await running.finished(job_id)).error["type"] == "DeadlineExceeded"


async def test_senseless_limits_are_refused(database: Database) -> None:
    senseless: list[dict[str, Any]] = [
        {"deadline": timedelta(0)},
        {"deadline": timedelta(seconds=-1)},
        {"deadline": datetime(2026, 1, 1)},
        {"timeout": float("nan")},
        {"timeout": float("inf")},
        {"timeout": 0.0},
        {"timeout": -1.0},
    ]
    for fields in senseless:
        with pytest.raises(BadInput):
            await Client(database).enqueue("trio", **fields)


def test_senseless_limits_of_kinds_are_refused() -> None:
    for option, seconds in product(("timeout", "deadline"), (0.0, -1.0, float("nan"), float("inf"))):
        options: dict[str, Any] = {option: seconds}
        with pytest.raises(BadInput, match=f"{option} must be more than 0 seconds"):
            App().kind("k", **options)


def test_the_default_deadline_of_a_kind_is_a_length_of_time() -> None:
    app = make_app([], [])
    assert app.find("punctual").new().deadline == timedelta(seconds=0.3)
    own = NewJob(kind="punctual", deadline=timedelta(hours=1))
    assert app.find("punctual").with_defaults(own).deadline == timedelta(hours=1)


# Jobs that nobody runs, and workers that do not look.


async def make_late(running: Working, job_id: int) -> object:
    """The deadline passes, and the reaper notices: it would pass over a row that is being renewed."""
    async with running.database.transaction() as transaction:
        await transaction.fetch("update leasehold.jobs set deadline = leasehold.clock() where id = $1", job_id)
        return await transaction.call_value("expire_jobs")


async def test_a_job_that_nobody_runs_fails_at_its_deadline(database_url: str, reasons: Reasons) -> None:
    async with working(database_url, make_app(reasons, []), beside=[a_reaper]) as running:
        await running.client.queues.pause("default")
        places: list[dict[str, Any]] = [{}, {"delay": 3600}, {"key": "k"}, {"key": "k"}]
        jobs = [await running.client.enqueue("trio", deadline=timedelta(seconds=0.2), **more) for more in places]
        for job_id in jobs:
            job = await running.finished(job_id)
            assert (job.state, job.error["type"], job.attempt) == ("failed", "DeadlineExceeded", 0)


async def test_the_reaper_tells_a_worker_whose_job_is_too_late(
    database_url: str, reasons: Reasons, begun: list[int]
) -> None:
    app = make_app(reasons, begun)
    async with working(database_url, app, lease_seconds=600.0, renew_seconds=200.0) as running:
        await running.ready()
        for kind in FLAVOURS:
            job_id = await started(running, begun, kind)
            assert await make_late(running, job_id) == 1
            await until(lambda: reasons == ["deadline"])
            assert (await running.client.get(job_id)).state == "failed"
            reasons.clear()


# Why a handler is cancelled.


async def cancel(running: Working, job_id: int) -> None:
    await running.client.cancel(job_id)


async def take_away(running: Working, job_id: int) -> None:
    await running.client.queues.pause("default")
    async with running.database.transaction() as transaction:  # no renewal comes in between
        await expire(transaction, job_id)
        await transaction.call("reap_jobs")


async def complete_elsewhere(running: Working, job_id: int) -> None:
    await running.database.call("complete_chain", job_id, '"from outside"')


async def delete(running: Working, job_id: int) -> None:
    await running.database.fetch("delete from leasehold.jobs where id = $1", job_id)


async def shut_down(running: Working, job_id: int) -> None:
    running.worker.interrupt()


LOSSES: dict[str, Callable[[Working, int], Any]] = {
    "cancelled": cancel,
    "taken_by_another_worker": take_away,
    "already_completed": complete_elsewhere,
    "not_found": delete,
    "shutdown": shut_down,
}


async def test_the_handler_can_see_why_it_is_cancelled(running: Working, reasons: Reasons, begun: list[int]) -> None:
    for reason, lose in LOSSES.items():
        for job_id in [await started(running, begun, kind) for kind in FLAVOURS]:
            await lose(running, job_id)
        await until(lambda: len(reasons) == len(FLAVOURS))
        assert reasons == [reason] * len(FLAVOURS)
        reasons.clear()
        await until(lambda: not running.worker.parts.holdings)
        await running.database.execute("delete from leasehold.jobs")
        await running.client.queues.resume("default")


async def test_without_notifications_the_next_renewal_tells(
    database_url: str, reasons: Reasons, begun: list[int]
) -> None:
    app, lease = make_app(reasons, begun), 600.0
    async with working(database_url, app, notify=False, renew_seconds=0.3, lease_seconds=lease) as running:
        for reason, end in (("cancelled", cancel), ("deadline", make_late)):
            await end(running, await started(running, begun, "trio"))
            await until(lambda: bool(reasons))
            assert reasons == [reason]
            reasons.clear()
