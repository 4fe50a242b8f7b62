"""What the rows tell of one run. All times are the database's."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from leasehold.client import Client
from leasehold.database import Database

RUN = "with run as materialized (select * from leasehold.all_jobs where id >= $1 and queue = $2)"
WORKERS = f"""{RUN}
select worker_id, count(*) filter (where state in ('claimed', 'running')) as held,
       count(*) filter (where state = 'completed') as completed,
       count(*) filter (where kind = 'census.measure') as files,
       count(*) filter (where kind = 'census.measure' and finished_at is not null) as files_done,
       count(*) filter (where kind = 'census.report' and finished_at is not null) as reports
  from run group by worker_id
"""
EVENTS = f"""{RUN}
select e.event, count(*) as events from leasehold.job_events e join run on run.id = e.job_id
 where e.job_id >= $1 group by e.event
"""
BUSY_WORKER = f"""{RUN}
select worker_id from run
 where state = 'running' and (args ->> 'pause')::float > extract(epoch from leasehold.clock() - started_at) + $3
 group by worker_id order by count(*) desc, worker_id limit 1
"""
JOBS = f"""{RUN}
select id, state, kind, attempt, args ->> 'file' as file, output::text as output, created_at, started_at, finished_at
  from run order by id
"""
RECOVERED = f"""{RUN}
select e.job_id, min(again.at) as again_at
  from leasehold.job_events e join run on run.id = e.job_id
  left join leasehold.job_timeline again
         on again.job_id = e.job_id and again.event = 'started' and again.attempt > e.attempt
 where e.job_id >= $1 and e.event = 'reaped' and e.worker_id = $3
 group by e.job_id
"""


class WorkerProgress(msgspec.Struct, frozen=True):
    """Jobs that a worker holds now, and has completed."""

    held: int = 0
    completed: int = 0


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far the run is. `attempts_failed` and `reaped` count events; `has_report`: the last job has ended."""

    files: int = 0
    files_done: int = 0
    workers: dict[str, WorkerProgress] = {}
    attempts_failed: int = 0
    reaped: int = 0
    has_report: bool = False


class RunJob(msgspec.Struct, frozen=True, kw_only=True):
    """One job of the run at its end. `output` is JSON."""

    id: int
    state: str
    kind: str
    attempt: int
    file: str | None
    output: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RecoveredJob(msgspec.Struct, frozen=True):
    """A job that was taken back from a dead worker; `again_at` is when it started anew."""

    job_id: int
    again_at: datetime | None


class Observer:
    """Reads the run in `queue`, whose first job has the id `first_id`."""

    def __init__(self, database: Database, queue: str, first_id: int = 0) -> None:
        self._database = database
        self._queue = queue
        self.first_id = first_id

    async def progress(self) -> RunProgress:
        """As of now."""
        rows = await self._fetch(WORKERS)
        events = {row["event"]: row["events"] for row in await self._fetch(EVENTS)}
        return RunProgress(
            files=sum(row["files"] for row in rows),
            files_done=sum(row["files_done"] for row in rows),
            workers={
                row["worker_id"]: WorkerProgress(row["held"], row["completed"]) for row in rows if row["worker_id"]
            },
            attempts_failed=events.get("attempt_failed", 0),
            reaped=events.get("reaped", 0),
            has_report=any(row["reports"] for row in rows),
        )

    async def busy_worker(self, seconds: float) -> str | None:
        """A worker that runs a job which will take at least `seconds` more; the one with most of them."""
        rows = await self._fetch(BUSY_WORKER, seconds)
        return rows[0]["worker_id"] if rows else None

    async def jobs(self) -> list[RunJob]:
        """Every job. One that was completed twice comes twice."""
        return [RunJob(**{name: row[name] for name in RunJob.__struct_fields__}) for row in await self._fetch(JOBS)]

    async def recovered(self, worker_id: str) -> list[RecoveredJob]:
        """The jobs that were taken back from a worker."""
        return [RecoveredJob(row["job_id"], row["again_at"]) for row in await self._fetch(RECOVERED, worker_id)]

    async def now(self) -> datetime:
        """The database's clock."""
        rows = await self._database.fetch("select leasehold.clock() as now")
        return rows[0]["now"]

    async def ready_workers(self, names: Sequence[str]) -> int:
        """How many of these workers have registered."""
        sql = "select count(distinct worker_id) as ready from leasehold.workers where state = 'ready' and worker_id = any ($1)"
        rows = await self._database.fetch(sql, list(names))
        return rows[0]["ready"]

    async def cancel_rest(self) -> None:
        """Cancel whatever has not ended, or does not just then: nobody is going to run it."""
        await Client(self._database).jobs.cancel_all(queue=self._queue, dry_run=False)

    async def _fetch(self, sql: str, *more: object) -> list[Any]:
        return await self._database.fetch(sql, self.first_id, self._queue, *more)
