"""What rows that somebody inserts into the table of jobs by hand tell idle workers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import heard, rolled_back
from tests.support.sql_worker import SqlWorker

FUTURE = "insert into leasehold.jobs (kind, run_at) values ('a', leasehold.clock() + $1::interval)"


async def idle_worker(database: Database, kinds: Sequence[str] = ()) -> SqlWorker:
    worker = SqlWorker(database)
    await worker.register(kinds=kinds)
    await worker.claim()
    return worker


async def test_an_idle_worker_is_woken_once_for_each_queue_of_the_statement(database: Database) -> None:
    await idle_worker(database)
    rows = "insert into leasehold.jobs (kind, queue) values ('a', 'x'), ('a', 'y'), ('b', 'x')"
    assert await heard(database, lambda: database.fetch(rows)) == ["wake:x", "wake:y"]


async def test_the_jobs_are_there_when_it_is_decided_who_can_take_them(database: Database) -> None:
    await enqueue_many(database, [{"kind": "other"}])
    await idle_worker(database, kinds=["other"])
    insert = "insert into leasehold.jobs (kind) values ('unserved')"
    assert await heard(database, lambda: database.fetch(insert)) == []


async def test_a_job_that_is_due_before_long_wakes_somebody_who_then_knows_when(database: Database) -> None:
    await idle_worker(database)
    assert await heard(database, lambda: database.fetch(FUTURE, timedelta(minutes=1))) == ["wake:default"]
    assert await heard(database, lambda: database.fetch(FUTURE, timedelta(hours=1))) == []


async def test_what_is_taken_back_wakes_nobody(database: Database) -> None:
    await idle_worker(database)

    async def insert_and_think_better_of_it() -> None:
        async with rolled_back(database) as transaction:
            await transaction.fetch("insert into leasehold.jobs (kind) values ('a')")

    assert await heard(database, insert_and_think_better_of_it) == []


async def test_a_statement_of_enqueue_jobs_after_it_wakes_as_ever(database: Database) -> None:
    await idle_worker(database)

    async def both() -> None:
        async with database.transaction() as transaction:
            await transaction.fetch("insert into leasehold.jobs (kind, queue) values ('a', 'x')")
            await enqueue_many(transaction, [{"kind": "a", "queue": "y"}])

    assert await heard(database, both) == ["wake:x", "wake:y"]
