"""Jobs that have failed."""

from __future__ import annotations

from leasehold import Client
from leasehold.database import open_database
from tests.support.sql_worker import SqlWorker


async def fail_all(dsn: str) -> None:
    """Whatever is pending fails for good."""
    async with open_database(dsn) as database:
        worker = SqlWorker(database)
        claimed = await worker.claim(10_000)
        await worker.fail(claimed, discard=[True] * len(claimed))


async def failed_jobs(client: Client, dsn: str, count: int) -> list[int]:
    made = [await client.enqueue("a", {"n": n}) for n in range(count)]
    await fail_all(dsn)
    return made
