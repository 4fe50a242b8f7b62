"""Handlers that complete their job over a connection of their own, with the values that the job has for it."""

# asyncpg carries no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import asyncpg
import msgspec
import psycopg
import pytest
import sqlalchemy
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from leasehold import App, CompletionValues, ContinueWith, Job
from leasehold.errors import BadInput, InvalidArgs
from tests.support.codecs import set_codecs
from tests.support.held import held_job
from tests.support.working import warnings_about, without_renewals, working

End = Callable[[Job], "tuple[Any, ContinueWith[Any] | None]"]
PAID = "insert into public.paid values (7)"
COMPLETE = "select leasehold.complete_job($1, $2, $3::text::uuid, $4::text::jsonb, $5::text::jsonb)"


class Receipt(msgspec.Struct, frozen=True):
    """An output of a type of one's own."""

    number: int


def with_psycopg(dsn: str, end: End) -> tuple[Any, Any]:
    def pay(job: Job) -> Any:
        output, continuation = end(job)
        with psycopg.connect(dsn) as connection:
            connection.execute(PAID)
            connection.execute(
                "select leasehold.complete_job(%s, %s, %s, %s, %s)", job.completion(output, continuation)
            )
        return output or continuation

    return "thread", pay


def with_sqlalchemy(dsn: str, end: End) -> tuple[Any, Any]:
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool)
    complete = sqlalchemy.text(
        "select leasehold.complete_job(:job_id, :attempt, cast(:incarnation as uuid), cast(:output as jsonb),"
        " cast(:continuation as jsonb))"
    )

    def pay(job: Job) -> Any:
        output, continuation = end(job)
        with Session(engine) as session, session.begin():
            session.execute(sqlalchemy.text(PAID))
            session.execute(complete, job.completion(output, continuation)._asdict())
        return output or continuation

    return "thread", pay


def with_asyncpg(dsn: str, end: End) -> tuple[Any, Any]:
    async def pay(job: Job) -> Any:
        output, continuation = end(job)
        async with asyncpg.create_pool(dsn, min_size=1) as pool, pool.acquire() as connection, connection.transaction():
            await connection.execute(PAID)
            values = job.completion(output, continuation)
            await set_codecs(connection)
            await connection.execute(COMPLETE, *values)
        return output or continuation

    return "asyncio", pay


DRIVERS = (with_psycopg, with_sqlalchemy, with_asyncpg)


def shop() -> App:
    """An app with what may come next, on queues that nobody serves."""
    app = App()

    @app.kind(queue="ships", priority=4, max_attempts=2)
    async def ship(order: int) -> int:
        return order

    @app.kind(queue="parts", deadline=60)
    async def part(n: int) -> int:
        return n

    return app


def pay_with_each_driver(app: App, dsn: str, end: End) -> None:
    """A kind for each driver, called as it is."""
    for driver in DRIVERS:
        runs, pay = driver(dsn, end)
        app.kind(driver.__name__, runs=runs)(pay)


def go_on(app: App, job: Job) -> ContinueWith[Any]:
    return job.continue_with(app.find("ship").new(order=7), blockers=[app.find("part").new(n=1), 1])


async def jobs_of(running: Any) -> list[tuple[Any, ...]]:
    rows = await running.database.fetch(
        "select id, kind, queue, priority, max_attempts, args, state, chain_id, chain_position, deadline is not null"
        " from leasehold.jobs order by id"
    )
    return [tuple(row) for row in rows]


async def test_an_output_is_committed_with_the_users_row_and_returned_as_by_any_other_handler(
    database_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = shop()

    def end(job: Job) -> tuple[Any, None]:
        job.start(app.find("part").new(n=2))
        return Receipt(3), None

    pay_with_each_driver(app, database_url, end)
    async with working(database_url, app, queues=["default"], **without_renewals(monkeypatch)) as running:
        await running.database.execute("create table public.paid (n int)")
        jobs: list[int] = []
        for driver in DRIVERS:
            job = await running.run(driver.__name__)
            assert (job.state, job.output) == ("completed", {"number": 3})
            jobs.append(job.id)
            assert len(await running.database.fetch("select from public.paid")) == len(jobs)
            assert [row[1:3] for row in await jobs_of(running)] == [("part", "parts")] * len(jobs)
        running.worker.drain()
        await running.stopped()
        assert running.worker.parts.settler.statistics().refused == 0
    assert not [warning for job_id in jobs for warning in warnings_about(job_id, caplog)]


async def test_a_continuation_is_what_job_complete_would_have_written(
    database_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = shop()

    def end(job: Job) -> tuple[None, ContinueWith[Any]]:
        return None, go_on(app, job)

    pay_with_each_driver(app, database_url, end)

    @app.kind()
    async def staged(job: Job) -> ContinueWith[Any]:
        async with job.complete():
            pass
        return go_on(app, job)

    async with working(database_url, app, queues=["default"], **without_renewals(monkeypatch)) as running:
        await running.database.execute("create table public.paid (n int)")
        waited_for = await running.client.enqueue("part", {"n": 1}, queue="people")
        assert waited_for == 1
        ours = await running.run("staged")
        expected = [row[1:7] for row in await jobs_of(running) if row[0] > ours.id]
        assert ("ship", "ships", 4, 2, '{"order": 7}', "blocked") in expected
        jobs = [ours.id]
        for driver in DRIVERS:
            mine = await running.run(driver.__name__)
            assert mine.state == "completed"
            jobs.append(mine.id)
            made = [row for row in await jobs_of(running) if row[0] > mine.id]
            assert [row[1:7] for row in made] == expected
            [ship] = [row for row in made if row[1] == "ship"]
            [part] = [row for row in made if row[1] == "part"]
            assert (ship[7:9], part[9]) == ((mine.id, 1), True)
            assert [each.chain_id for each in await running.client.jobs.blockers(ship[0])] == [part[0], 1]
        running.worker.drain()
        await running.stopped()
        assert running.worker.parts.settler.statistics().refused == 0
    assert not [warning for job_id in jobs for warning in warnings_about(job_id, caplog)]


async def test_what_cannot_be_committed_is_refused_before_anything_is_written(database_url: str) -> None:
    app = shop()
    seen: list[Any] = []

    @app.kind()
    async def pay(job: Job) -> None:
        for output, further in ((object(), None), (float("nan"), None), (1, ContinueWith(app.find("part").new(n=1)))):
            with pytest.raises((BadInput, InvalidArgs)) as refused:
                job.completion(output, further)
            seen.append((type(refused.value).__name__, str(refused.value)))
        seen.append(job.completion())
        assert job.completion() == CompletionValues(*job.token, None, None)

    async with working(database_url, app) as running:
        assert (await running.run("pay")).state == "completed"
    assert [name for name, _ in seen[:3]] == ["InvalidArgs", "InvalidArgs", "BadInput"]
    assert "nan is no JSON" in seen[1][1]
    assert seen[2][1] == "a job that continues its chain has no output; give one or the other"


async def test_who_goes_on_says_no_output_whatever_the_chain_promises(database_url: str) -> None:
    app = shop()
    seen: list[CompletionValues] = []

    @app.kind()
    async def pay(job: Job) -> ContinueWith[Receipt]:
        end = ContinueWith[Receipt](app.find("part").new(n=1))
        seen.append(job.completion(continuation=end))
        return end

    async with working(database_url, app) as running:
        assert (await running.run("pay")).state == "completed"
    assert seen[0].output is None


async def test_there_is_one_completion_only(database_url: str) -> None:
    app = App()

    @app.kind()
    async def staged(job: Job) -> None:
        async with job.complete():
            job.completion()

    @app.kind(mode="atomic")
    async def atomic(job: Job) -> None:
        job.completion()

    async with working(database_url, app) as running:
        for kind in ("staged", "atomic"):
            job = await running.run(kind, max_attempts=1)
            assert (job.state, job.error["type"]) == ("failed", "BadInput")
            assert "has a completion of ours already" in job.error["message"]


def test_a_job_without_a_worker_at_hand_says_so() -> None:
    with pytest.raises(BadInput, match="no worker at hand"):
        held_job(7).job("w1").completion()
