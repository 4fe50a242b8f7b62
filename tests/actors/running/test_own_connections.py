"""Handlers that complete their job over a connection of their own, through the SQL function."""

# asyncpg carries no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy
from psycopg.types.json import Jsonb
from sqlalchemy.orm import Session
from sqlalchemy.pool import NullPool

from leasehold import App, Job
from tests.support.working import Working, warnings_about, without_renewals, working

Completes = Callable[[Job, int, Any], Any]
NEXT = {"next": {"kind": "mail", "queue": "elsewhere"}}


def with_psycopg(dsn: str) -> tuple[Any, Completes]:
    def pay(job: Job, n: int, then: Any = None) -> None:
        with psycopg.connect(dsn) as connection:
            connection.execute("insert into public.paid values (%s)", (n,))
            connection.execute(
                "select leasehold.complete_job(%s, %s, %s, %s, %s)", (*job.token, Jsonb({"n": n}), Jsonb(then))
            )

    return "thread", pay


def with_sqlalchemy(dsn: str) -> tuple[Any, Completes]:
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool)

    def pay(job: Job, n: int, then: Any = None) -> None:
        with Session(engine) as session, session.begin():
            session.execute(sqlalchemy.text("insert into public.paid values (:n)"), {"n": n})
            session.execute(
                sqlalchemy.text(
                    "select leasehold.complete_job(:job_id, :attempt, cast(:incarnation as uuid),"
                    " cast(:output as jsonb), cast(:continuation as jsonb))"
                ),
                {**job.token._asdict(), "output": json.dumps({"n": n}), "continuation": json.dumps(then)},
            )

    return "thread", pay


def with_asyncpg(dsn: str) -> tuple[Any, Completes]:
    async def pay(job: Job, n: int, then: Any = None) -> None:
        async with asyncpg.create_pool(dsn, min_size=1) as pool, pool.acquire() as connection, connection.transaction():
            await connection.execute("insert into public.paid values ($1)", n)
            await connection.execute(
                "select leasehold.complete_job($1, $2, $3, $4, $5)",
                *job.token,
                json.dumps({"n": n}),
                json.dumps(then),
            )

    return "asyncio", pay


DRIVERS = (with_psycopg, with_sqlalchemy, with_asyncpg)


async def paid(running: Working) -> list[int]:
    return [row[0] for row in await running.database.fetch("select n from public.paid")]


async def test_the_users_row_and_the_completion_are_one_commit_and_the_handler_just_returns(
    database_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App()
    for driver in DRIVERS:
        runs, pay = driver(database_url)
        app.kind(driver.__name__, runs=runs)(pay)
    async with working(database_url, app, queues=["default"], **without_renewals(monkeypatch)) as running:
        await running.database.execute("create table public.paid (n int)")
        jobs: list[int] = []
        for driver, then in product(DRIVERS, [None, NEXT]):
            job = await running.run(driver.__name__, {"n": len(jobs), "then": then})
            assert (job.state, job.output) == ("completed", None if then else {"n": len(jobs)})
            jobs.append(job.id)
            assert await paid(running) == [*range(len(jobs))]
            assert len(await running.client.jobs.list(kind="mail")) == len(jobs) // 2
        running.worker.drain()
        await running.stopped()
        assert running.worker.parts.settler.statistics().refused == 0
    assert not [warning for job_id in jobs for warning in warnings_about(job_id, caplog)]


async def test_a_lost_lease_fails_the_users_transaction(database_url: str) -> None:
    app = App()

    def take() -> None:
        with psycopg.connect(database_url) as connection:
            connection.execute(
                "update leasehold.jobs set state = 'pending', incarnation = null, lease_expires_at = null,"
                " worker_id = null, claimed_at = null, started_at = null, heartbeat_at = null where attempt = 1"
            )

    def taking(pay: Completes) -> Callable[[Job, int], None]:
        def in_thread(job: Job, n: int) -> None:
            take()
            pay(job, n, None)

        return in_thread

    _, pay_in_asyncio = with_asyncpg(database_url)

    async def in_asyncio(job: Job, n: int) -> None:
        take()
        await pay_in_asyncio(job, n, None)

    app.kind("with_asyncpg", runs="asyncio")(in_asyncio)
    for driver in (with_psycopg, with_sqlalchemy):
        app.kind(driver.__name__)(taking(driver(database_url)[1]))
    async with working(database_url, app) as running:
        await running.database.execute("create table public.paid (n int)")
        for number, driver in enumerate(DRIVERS):
            job = await running.run(driver.__name__, {"n": number})
            assert (job.state, job.attempt, await paid(running)) == ("completed", 2, [*range(number + 1)])


async def test_what_a_handler_raises_after_its_own_commit_is_logged_and_changes_nothing(
    database_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App()
    _, pay = with_psycopg(database_url)

    @app.kind("pay")
    def raises(job: Job, n: int) -> None:
        pay(job, n, None)
        raise ValueError("too late")

    async with working(database_url, app, **without_renewals(monkeypatch)) as running:
        await running.database.execute("create table public.paid (n int)")
        job = await running.run("pay", {"n": 7})
        running.worker.drain()
        await running.stopped()
        assert ((await running.client.get(job.id)).state, await paid(running)) == ("completed", [7])
    assert "attempt 1 raised after it had completed the job: ValueError: too late (" in caplog.text
