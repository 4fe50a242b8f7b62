"""An outage of our database is not the handler's failure: the attempt runs again and is not charged."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
import trio

from leasehold import App, Job, RetryPolicy
from leasehold.actors.running import job_host
from leasehold.database import Database, Transaction
from leasehold.errors import DatabaseUnavailable
from tests.support.process_app import app as process_app
from tests.support.waiting import until
from tests.support.working import Working, a_scheduler, warnings_about, working

KINDS = ("prepares", "completes", "uses asyncpg", "in a thread", "atomic trio", "atomic asyncio")
CHARGED = ("slow statement", "waits for a lock", "other database", "after a cut that it got over", "amid a statement")
CUT = "select pg_terminate_backend(pg_backend_pid())"

AGAIN = RetryPolicy(initial=0.0)


def an_app() -> App:
    """Kinds whose transaction is cut in their first attempt, each in its own way."""
    app = App()

    @app.kind("prepares")
    async def prepares(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
        async with job.prepare() as tx:
            await tx.execute(CUT if job.attempt == 1 else "select 1")
        return job.attempt

    @app.kind("completes")
    async def completes(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
        async with job.complete() as tx, trio.open_nursery() as nursery:
            nursery.start_soon(tx.execute, CUT if job.attempt == 1 else "select 1")
        return job.attempt

    @app.kind("uses asyncpg", runs="asyncio")
    async def uses_asyncpg(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
        async with job.complete() as tx:
            await tx.connection.fetch(CUT if job.attempt == 1 else "select 1")
        return job.attempt

    @app.kind("in a thread", runs="thread")
    def in_a_thread(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
        with job.complete() as tx:
            tx.execute(CUT if job.attempt == 1 else "select 1")
        return job.attempt

    for runs in ("trio", "asyncio"):

        @app.kind(f"atomic {runs}", runs=runs, mode="atomic")
        async def atomic(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
            await job.transaction.execute(CUT if job.attempt == 1 else "select 1")
            return job.attempt

    return app


async def timeline(running: Working, job_id: int) -> list[tuple[str, str | None]]:
    rows = await running.database.call("get_job_timeline", job_id)
    return [(row["event"], row["message"]) for row in rows]


async def test_a_job_of_one_attempt_whose_transaction_is_cut_runs_again_and_its_timeline_says_why(
    database_url: str,
) -> None:
    async with working(database_url, an_app(), beside=(a_scheduler,)) as running:
        jobs = {kind: await running.client.enqueue(kind, max_attempts=1) for kind in KINDS}
        for kind, job in jobs.items():
            record = await running.finished(job)
            assert (kind, record.state, record.output, record.error) == (kind, "completed", 2, None)
            told = [message for event, message in await timeline(running, job) if event == "rescheduled"]
            assert [str(each).partition(":")[0] for each in told] == [
                "the database was not available, the attempt does not count"
            ]


async def test_an_outage_that_a_handler_meets_in_a_process_costs_no_attempt(database_url: str) -> None:
    async with working(database_url, process_app, beside=(a_scheduler,)) as running:
        record = await running.run("ask_absent_database", max_attempts=1)
        assert (record.state, record.output, record.error) == ("completed", 2, None)


async def test_an_outage_while_the_handler_asks_for_the_database_costs_no_attempt(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, begin = App(), job_host.WorkerJobHost.begin_atomic
    away: list[int] = []

    @app.kind("atomic", mode="atomic")
    async def atomic(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
        return job.attempt

    async def begin_later(host: Any, held: Any, *rest: Any) -> None:
        if len(away) < 2:
            away.append(held.id)
            raise DatabaseUnavailable("the database cannot be reached")
        await begin(host, held, *rest)

    monkeypatch.setattr(job_host.WorkerJobHost, "begin_atomic", begin_later)
    async with working(database_url, app, beside=(a_scheduler,)) as running:
        record = await running.run("atomic", max_attempts=1)
        assert (record.state, record.output, away) == ("completed", 3, [record.id] * 2)


async def test_an_error_of_the_handlers_own_that_stands_for_an_outage_costs_no_attempt(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where its transaction could not begin, or its preparation not commit."""
    app, begin, commit = App(), Database.begin, Transaction.commit
    away: list[str] = []

    @app.kind("wraps")
    async def wraps(job: Job) -> int:  # pyright: ignore[reportUnusedFunction]
        try:
            async with job.prepare() as tx:
                await tx.fetch("select 1")
        except DatabaseUnavailable as error:
            raise RuntimeError("in words of its own") from error
        return job.attempt

    def lose(what: str) -> None:
        if what not in away:
            away.append(what)
            raise DatabaseUnavailable("the database cannot be reached")

    async def begin_later(database: Database) -> Transaction:
        if database.application_name.endswith("handlers"):
            lose("begin")
        return await begin(database)

    async def commit_later(transaction: Transaction) -> None:
        await commit(transaction)
        lose("commit")

    monkeypatch.setattr(Database, "begin", begin_later)
    monkeypatch.setattr(Transaction, "commit", commit_later)
    async with working(database_url, app, beside=(a_scheduler,)) as running:
        away.clear()
        record = await running.run("wraps", max_attempts=1)
        assert (record.state, record.error, {"begin", "commit"} <= set(away)) == ("completed", None, True)


async def test_a_commit_whose_answer_is_lost_is_neither_repeated_nor_complained_of(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app, commit = App(), Transaction.commit
    started: list[tuple[str, int]] = []

    async def completes(job: Job) -> int:
        started.append((job.kind, job.attempt))
        async with job.complete():
            pass
        return job.attempt

    app.kind("trio")(completes)
    app.kind("asyncio", runs="asyncio")(completes)

    async def commit_unheard(transaction: Transaction) -> None:
        await commit(transaction)
        raise DatabaseUnavailable("the connection was lost")

    async with working(database_url, app) as running:
        monkeypatch.setattr(Transaction, "commit", commit_unheard)
        jobs = [await running.run(runs, max_attempts=1) for runs in ("trio", "asyncio")]
        assert [job.output for job in jobs] == [1, 1]
        await until(lambda: not running.worker.parts.holdings)
    assert started == [("trio", 1), ("asyncio", 1)]
    assert not [each for job in jobs for each in warnings_about(job.id, caplog) if "refused" in each]


async def test_what_is_the_handlers_own_doing_is_charged(database_url: str) -> None:
    app = App()

    @app.kind("slow statement", retry=AGAIN)
    async def slow(job: Job) -> None:  # pyright: ignore[reportUnusedFunction]
        async with job.complete() as tx:
            await tx.execute("set local statement_timeout = 1; select pg_sleep(10)")

    @app.kind("waits for a lock", retry=AGAIN)
    async def waits(job: Job) -> None:  # pyright: ignore[reportUnusedFunction]
        async with job.complete() as tx:
            await tx.execute("set local lock_timeout = 1; lock table leasehold.probe")

    @app.kind("other database", retry=AGAIN)
    async def other() -> None:  # pyright: ignore[reportUnusedFunction]
        raise ConnectionError("not ours")

    @app.kind("after a cut that it got over", retry=AGAIN)
    async def got_over(job: Job) -> None:  # pyright: ignore[reportUnusedFunction]
        with suppress(DatabaseUnavailable):
            async with job.prepare() as tx:
                await tx.execute(CUT)
        async with job.complete():
            raise ConnectionError("not ours")

    @app.kind("amid a statement", runs="asyncio", retry=AGAIN)
    async def amid_a_statement(job: Job) -> None:  # pyright: ignore[reportUnusedFunction]
        async with job.complete() as tx:
            left = asyncio.ensure_future(tx.connection.execute("select pg_sleep(600)"))
            await asyncio.sleep(0)
            assert not left.done()
            raise ConnectionError("not ours")

    async with working(database_url, app, beside=(a_scheduler,)) as running:
        await running.database.execute("create table leasehold.probe ()")
        async with running.database.transaction() as holder:
            await holder.execute("lock table leasehold.probe")
            for kind in (
                "slow statement",
                "waits for a lock",
                "other database",
                "after a cut that it got over",
                "amid a statement",
            ):
                record = await running.run(kind, max_attempts=2)
                assert (kind, record.state, record.attempt) == (kind, "failed", 2)
                assert "rescheduled" not in [event for event, _ in await timeline(running, record.id)]


async def test_a_job_that_always_breaks_its_connection_fails_in_the_end(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_host, "MOST_SPARED", 1)
    app = App()

    @app.kind("poison", mode="atomic", retry=AGAIN)
    async def poison(job: Job) -> None:  # pyright: ignore[reportUnusedFunction]
        await job.transaction.execute(CUT)

    async with working(database_url, app, beside=(a_scheduler,)) as running:
        record = await running.run("poison", max_attempts=2)
        assert (record.state, record.attempt) == ("failed", 3)
