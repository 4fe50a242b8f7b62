"""A few real actor processes on one database, and what a test wants to know of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from leasehold.client import Client
from leasehold.database import Database, open_database
from leasehold.records.jobs import JobRecord
from tests.support.processes import LeaseholdProcess, StartProcess
from tests.support.waiting import PATIENCE, eventually

APP = "tests.support.fault_app:app"
EXPIRE = """
update leasehold.jobs set lease_expires_at = leasehold.clock() where worker_id = $1 and incarnation is not null
"""
HAVE = "select from leasehold.workers where worker_id = $1 for no key update"


class Fleet:
    """Starts actors with short times and asks the database about their jobs."""

    def __init__(self, database: Database, start: StartProcess, settings: dict[str, str]) -> None:
        self.database = database
        self.client = Client(database)
        self._start = start
        self._settings = settings

    async def worker(self, worker_id: str, **settings: str) -> LeaseholdProcess:
        """A worker that has looked for jobs."""
        process = self.run("worker", **{"LEASEHOLD_APP": APP, "LEASEHOLD_WORKER_ID": worker_id, **settings})
        await process.until_line("starting worker")
        return process

    def run(self, *actors: str, **settings: str) -> LeaseholdProcess:
        """A process of these actors."""
        env = {"LEASEHOLD_DATABASE_URL": self.database.dsn, **self._settings, **settings}
        return self._start(["run", *actors, "--log-format", "text"], env)

    async def job(self, job_id: int, *states: str, timeout: float = PATIENCE) -> JobRecord:
        """The job, once it is in one of these states."""

        async def probe() -> JobRecord | None:
            record = await self.client.get(job_id)
            return record if record.state in states else None

        return await eventually(probe, timeout)

    async def value(self, sql: str, *args: Any) -> Any:
        """The first column of the first row."""
        return (await self.database.fetch(sql, *args))[0][0]

    async def expire(self, worker_id: str) -> None:
        """The leases of a worker that died, stands still or is about to end run out now: nobody has to wait for it."""
        await self.database.fetch(EXPIRE, worker_id)

    async def reap(self, worker_id: str) -> None:
        """Have the leases of a worker run out and its jobs taken back, as a reaper does that has been there for long.

        One that a busy machine has kept from its turn for a moment blames nobody, since it could have missed a renewal.
        Nor does it wait for the last heartbeat of a worker that has just died, which may still be under way: this does.
        """
        async with self.database.transaction() as transaction:
            await transaction.fetch(HAVE, worker_id)
            await transaction.fetch(EXPIRE, worker_id)
            await transaction.call("reap_jobs")

    async def renewed(self, job_id: int, times: int) -> None:
        """Until the lease of this job has been renewed so often from now on."""
        renewed_at = "select heartbeat_at from leasehold.jobs where id = $1"
        for _ in range(times):
            last = await self.value(renewed_at, job_id)

            async def probe(last: Any = last) -> bool:
                return await self.value(renewed_at, job_id) != last

            await eventually(probe)

    async def completions(self, job_id: int) -> int:
        """How many completions of a job were accepted. One is right."""
        return await self.value("select count(*) from leasehold.finished_jobs where id = $1", job_id)

    async def idle(self, worker_id: str, timeout: float = PATIENCE) -> None:
        """Until the worker has found nothing to do."""

        async def probe() -> bool:
            return bool(
                await self.database.fetch(
                    "select from leasehold.workers where worker_id = $1 and idle and state = 'ready'", worker_id
                )
            )

        await eventually(probe, timeout)


@asynccontextmanager
async def open_fleet(database_url: str, start: StartProcess, **settings: str) -> AsyncGenerator[Fleet]:
    """A fleet with settings of its own over these, as environment variables.

    The lease is long, so that a busy machine costs none; `expire` ends one that is to run out.
    """
    quick = {
        "LEASEHOLD_LEASE_SECONDS": "60",
        "LEASEHOLD_RENEW_SECONDS": "0.5",
        "LEASEHOLD_POLL_SECONDS": "0.5",
        "LEASEHOLD_HEARTBEAT_SECONDS": "1",
        "LEASEHOLD_DRAIN_SECONDS": "20",
    }
    async with open_database(database_url, timeout=PATIENCE) as database:
        yield Fleet(database, start, {**quick, **settings})
