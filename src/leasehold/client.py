"""The client: enqueue, look, cancel, retry. One class for trio and for asyncio; it runs no jobs."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, cast

import msgspec

from leasehold import database as databases
from leasehold.app import App
from leasehold.arguments import encode_args
from leasehold.database import AsyncioTransaction, Caller
from leasehold.errors import BadInput, InvalidArgs, UnknownJob
from leasehold.job import NewJob
from leasehold.notify.doorbell import Doorbell, open_doorbell
from leasehold.records import EnqueuedJob, JobRecord, QueueCounts, TimelineEntry, WorkerRecord, from_row


class Client:
    """Calls the SQL functions over a database of either flavour.

    Args:
        database: from `open_database` or `open_asyncio_database`.
        app: when given, args are checked against its kinds, and a kind it does not know is refused.
        doorbell: when given, workers are woken after the commit instead of by NOTIFY inside it.

    Every call raises `DatabaseUnavailable` when the database does not answer, and `SchemaMismatch` when
    `leasehold migrate` has not been run.
    """

    def __init__(self, database: Caller, *, app: App | None = None, doorbell: Doorbell | None = None) -> None:
        self._database = database
        self._app = app
        self._doorbell = doorbell

    async def enqueue(
        self,
        job: NewJob | str,
        args: Mapping[str, Any] | None = None,
        *,
        queue: str | None = None,
        priority: int | None = None,
        run_at: datetime | None = None,
        delay: timedelta | float | None = None,
        key: str | None = None,
        max_attempts: int | None = None,
        idempotency_key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        connection: Any = None,
    ) -> int:
        """Enqueue one job and return its id. When this returns, the job survives a crash of anything.

        Args:
            job: from `kind.new(...)`, or the name of a kind together with `args`.
            args: named arguments, where `job` is a name.
            queue, priority, run_at, delay, key, max_attempts, idempotency_key, metadata: as in `NewJob`, over its values.
            connection: your own asyncpg connection (asyncio), or `Transaction` (trio): the job exists when, and only
                if, your transaction commits.

        Raises:
            InvalidArgs: args do not fit the kind or are no JSON that Postgres keeps.
            UnknownKind: the client has an app that does not know the kind.
            BadInput: another field is refused.
        """
        if isinstance(job, str):
            job = NewJob(kind=job, args=args or {})
        elif not isinstance(cast("object", job), NewJob):
            raise BadInput(f"enqueue takes a job made by kind.new(...), or the name of a kind, not {job!r}")
        elif args is not None:
            raise BadInput("give args with the name of a kind; a job made by kind.new(...) has its own")
        given = {
            "queue": queue,
            "priority": priority,
            "run_at": run_at,
            "delay": delay.total_seconds() if isinstance(delay, timedelta) else delay,
            "key": key,
            "max_attempts": max_attempts,
            "idempotency_key": idempotency_key,
            "metadata": metadata,
        }
        changes = {name: value for name, value in given.items() if value is not None}
        made = await self.enqueue_many([msgspec.structs.replace(job, **changes)], connection=connection)
        return made[0].job_id

    async def enqueue_many(self, jobs: Sequence[NewJob], *, connection: Any = None) -> list[EnqueuedJob]:
        """Enqueue jobs in one statement, all or none; answers in their order. Errors and `connection` as `enqueue`."""
        if not jobs:
            return []
        document = encode_jobs([self._checked(job) for job in jobs])
        rings = connection is None and self._doorbell is not None
        rows = await self._caller(connection).call("enqueue_jobs", document, not rings)
        if rings and self._doorbell is not None:
            self._doorbell.ring({job.queue or "default" for job in jobs})
        return [EnqueuedJob(row["job_id"], row["is_new"]) for row in rows]

    def _caller(self, connection: Any) -> Caller:
        if connection is None:
            return self._database
        return connection if isinstance(connection, Caller) else AsyncioTransaction(connection)

    def _checked(self, job: NewJob) -> NewJob:
        if job.run_at is not None and job.run_at.tzinfo is None:
            raise BadInput(f"run_at must have a time zone, not {job.run_at.isoformat()}; use datetime.now(UTC)")
        if job.delay is not None and not math.isfinite(job.delay):
            raise BadInput(f"delay must be a number of seconds, not {job.delay}")
        metadata = msgspec.Raw(encode_args(job.metadata, "metadata")) if job.metadata is not None else None
        job = msgspec.structs.replace(job, metadata=cast("Any", metadata))
        kind = self._app.find(job.kind) if self._app is not None else None
        if kind is not None:
            job = kind.with_defaults(job)
        if isinstance(job.args, msgspec.Raw):
            if kind is not None:
                kind.decode(bytes(job.args))
            return job
        encoded = kind.encode(dict(job.args)) if kind is not None else encode_args(job.args, "args")
        return msgspec.structs.replace(job, args=msgspec.Raw(encoded))

    async def get(self, job_id: int) -> JobRecord:
        """One job. Raises UnknownJob."""
        rows = await self._database.call("get_job", job_id)
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return from_row(JobRecord, rows[0])

    async def list(
        self,
        *,
        state: str | None = None,
        queue: str | None = None,
        kind: str | None = None,
        key: str | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> list[JobRecord]:
        """A page of jobs, newest id first; pass the last id as `before_id` for the next. Raises BadInput."""
        rows = await self._database.call("list_jobs", state, queue, kind, key, before_id, page_size)
        return [from_row(JobRecord, row) for row in rows]

    async def counts(self) -> list[QueueCounts]:
        """How many jobs each queue has in each state."""
        return [from_row(QueueCounts, row) for row in await self._database.call("count_jobs")]

    async def timeline(self, job_id: int) -> list[TimelineEntry]:
        """Everything that happened to a job, oldest first. Raises UnknownJob."""
        rows = await self._database.call("get_job_timeline", job_id)
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return [from_row(TimelineEntry, row) for row in rows]

    async def cancel(self, job_id: int, reason: str | None = None) -> str:
        """Cancel a job that has not finished; returns the state it was in. Raises UnknownJob, WrongState."""
        return str(await self._database.call_value("cancel_job", job_id, reason))

    async def retry(self, job_id: int) -> str:
        """Run a failed or cancelled job once more, or a scheduled one now; returns its new state.

        Raises UnknownJob, WrongState.
        """
        return str(await self._database.call_value("retry_job", job_id))

    async def pause(self, queue: str, reason: str | None = None) -> bool:
        """Claim nothing more from a queue; returns whether this changed anything. Raises BadInput."""
        return bool(await self._database.call_value("pause_queue", queue, reason))

    async def resume(self, queue: str) -> bool:
        """Claim from a paused queue again; returns whether this changed anything."""
        return bool(await self._database.call_value("resume_queue", queue))

    async def recover_stale(self, minutes: float) -> int:
        """Take back jobs whose owner has not renewed for `minutes`; returns how many. Raises BadInput."""
        return int(str(await self._database.call_value("recover_stale_jobs", minutes)))

    async def wake(self, queue: str | None = None) -> None:
        """Have workers look for jobs now."""
        await self._database.call("wake", queue)

    async def workers(self) -> list[WorkerRecord]:
        """The workers that have not stopped."""
        return [from_row(WorkerRecord, row) for row in await self._database.call("list_workers")]

    async def ping(self) -> None:
        """Ask the database for the time. Raises DatabaseUnavailable, SchemaMismatch."""
        await self._database.call("clock")


_encoder = msgspec.json.Encoder(order=None)


def encode_jobs(jobs: Sequence[NewJob]) -> str:
    """The JSON document that `leasehold.enqueue_jobs` takes."""
    try:
        return _encoder.encode(jobs).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgs(f"a job cannot be written as JSON: {error}") from error


@asynccontextmanager
async def open_client(dsn: str = "", *, app: App | None = None, pool_size: int = 5) -> AsyncGenerator[Client]:
    """A client with a pool of its own, under trio or under asyncio, whichever runs.

    Args:
        dsn: a Postgres URL; empty: the PG… environment variables decide.
        app: check args against these kinds.
        pool_size: connections at the most.

    Example:
        async with open_client("postgresql://…", app=app) as client:
            job_id = await client.enqueue(greet.new(name="Ada"), priority=5)
    """
    async with AsyncExitStack() as stack:
        if databases.running_flavour() == "trio":
            opening = databases.open_database(dsn, pool_size=pool_size)
        else:
            opening = databases.open_asyncio_database(dsn, pool_size=pool_size)
        database: Caller = await stack.enter_async_context(opening)
        doorbell = await stack.enter_async_context(open_doorbell(database))
        yield Client(database, app=app, doorbell=doorbell)
