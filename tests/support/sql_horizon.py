"""An old snapshot, and jobs that were claimed while it was open: their index entries stay, whatever vacuum does."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from leasehold.database import Database
from tests.support.sql_jobs import pile_up
from tests.support.sql_work import Work, measured
from tests.support.sql_worker import SqlWorker


@asynccontextmanager
async def old_snapshot(database: Database) -> AsyncGenerator[None]:
    """A transaction that keeps everything that is there now."""
    async with database.reserve("report") as report:
        await report.execute("begin isolation level repeatable read")
        await report.fetch("select count(*) from leasehold.jobs")
        yield
        await report.execute("rollback")


async def bury(
    database: Database, count: int, kind: str = "plain", *, queue: str = "default", priority: int = 0, batch: int = 1000
) -> None:
    """Make jobs that are due since a minute and claim them all, a batch at a time: older than what marks leave out."""
    await pile_up(database, count, kind, queue=queue, priority=priority, minutes=1)
    worker = SqlWorker(database)
    for _ in range(0, count, batch):
        await worker.claim(batch, queues=[queue], kinds=[kind])


async def work_of_claim(database: Database, batch: int, *, kinds: list[str] | None = None) -> tuple[int, Work]:
    """How many jobs a claim gets, and what it reads for them."""
    async with database.reserve("claimer") as reserved:
        worker = SqlWorker(reserved)
        await reserved.execute("begin")
        async with measured(reserved) as work:
            jobs = await worker.claim(batch, kinds=kinds)
        await reserved.execute("commit")
    return len(jobs), work


async def count_marks(database: Database) -> int:
    """How many marks there are."""
    [[number]] = await database.fetch("select count(*) from leasehold.lane_marks")
    assert isinstance(number, int)
    return number
