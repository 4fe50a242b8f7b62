"""`client.jobs`: looking at jobs, changing one, changing all that match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import msgspec

from leasehold import validation
from leasehold.asks import checked_id, checked_ids
from leasehold.client.core import Part
from leasehold.client.nouns.jobs_bulk import JobBulk
from leasehold.client.nouns.jobs_read import JobLists, JobReading
from leasehold.database import Caller
from leasehold.database.calls import CallersConnection, decoded, from_row
from leasehold.errors import BadInput, UnknownJob
from leasehold.events import JobRequeued
from leasehold.jobs.arguments import encode_args
from leasehold.records.jobs import Fault, JobRecord


class JobChanges(Part):
    """The part of `client.jobs` that changes one job."""

    async def lock(self, job_id: int, *, connection: CallersConnection) -> JobRecord:
        """Return a job that nobody else can change until your transaction ends: look first, then change.

        Example:
            async with client.transaction() as tx:
                job = await client.jobs.lock(42, connection=tx)
                if job.priority < 5:
                    await client.jobs.edit(42, priority=5, connection=tx)

        Args:
            connection: your own, in a transaction, as in `client.enqueue`.

        Raises:
            UnknownJob: no job has this id.
        """
        rows = await self._core.caller(connection).call("lock_job", checked_id(job_id))
        if not rows:
            raise UnknownJob(f"there is no job {job_id}")
        return from_row(JobRecord, rows[0])

    async def edit(
        self,
        job_id: int,
        *,
        args: Mapping[str, Any] | None = None,
        priority: int | None = None,
        queue: str | None = None,
        run_at: datetime | None = None,
        max_attempts: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        reason: str | None = None,
        connection: CallersConnection | None = None,
    ) -> str:
        """Change a job before it runs, or one that failed or was cancelled before it is retried; returns its state.

        What is None stays. The timeline keeps the old and the new values.

        Args:
            args: all of them; checked against the kind where the client has an app.
            priority, queue, max_attempts, metadata: as in `client.enqueue`.
            run_at: with a time zone.
            reason: stands in the timeline.
            connection: as in `client.enqueue`.

        Raises:
            UnknownJob: no job has this id.
            WrongState: a worker holds it, it completed, or it has ended and is given a run_at.
            InvalidArgs, BadInput: a value is refused, or there is nothing to change.
        """
        if run_at is not None and run_at.tzinfo is None:
            raise BadInput(f"run_at must have a time zone, not {run_at.isoformat()}; use datetime.now(UTC)")
        validation.check_reason(reason)
        if args is not None and not isinstance(cast("object", args), Mapping):
            raise validation.refusal("args", "a mapping of named arguments", args)
        caller = self._core.caller(connection)
        encoded = await self._encode_args(caller, job_id, args)
        about = None if metadata is None else encode_args(metadata, "metadata").decode()
        values = (checked_id(job_id), encoded, priority, queue, run_at, max_attempts, about, reason)
        return str(await caller.call_value("edit_job", *values))

    async def trigger(self, job_id: int) -> str:
        """Run a scheduled job now, or one that waits for its next attempt; returns its new state.

        Raises:
            UnknownJob: no job has this id.
            WrongState: the job is not scheduled.
        """
        return (await self.trigger_many([job_id]))[job_id]

    async def trigger_many(self, job_ids: Sequence[int]) -> dict[int, str]:
        """Run these scheduled jobs now, all or none; returns the new state of each. The message of an error names them.

        Raises:
            UnknownJob: one is not there.
            WrongState: one is not scheduled.
        """
        rows = await self._database.call("trigger_jobs", checked_ids(job_ids))
        states: dict[int, str] = {row["job_id"]: row["state"] for row in rows}
        if JobRequeued in self._core.observers.subscribed:
            for job_id, state in states.items():
                self._core.observers.emit(JobRequeued(job_id=job_id, state=state))
        return states

    async def delete(self, job_id: int, *, connection: CallersConnection | None = None) -> str:
        """Delete a job that no worker holds; returns the state it was in. One event `deleted` remains in its timeline.

        Args:
            connection: as in `client.enqueue`.

        Raises:
            UnknownJob: no job has this id.
            WrongState: a worker holds it (cancel it first), it is one of several jobs of a chain (see
                `client.chains.delete`), or a job waits for it.
        """
        return str(await self._core.caller(connection).call_value("delete_job", checked_id(job_id)))

    async def _encode_args(self, caller: Caller, job_id: int, args: Mapping[str, Any] | None) -> str | None:
        if args is None:
            return None
        if self._core.app is None:
            return encode_args(args, "args").decode()
        job = (await caller.call("get_job", checked_id(job_id)))[:1]
        kind = self._core.kind(job[0]["kind"]) if job else None
        return (kind.encode(dict(args)) if kind is not None else encode_args(args, "args")).decode()


AUDIT_SECONDS = 3600.0  # an audit reads whole tables


class JobUpkeep(Part):
    """The part of `client.jobs` that puts jobs in order."""

    async def audit(self, *, repair: bool = False, grace: float = 60.0, patience: float = AUDIT_SECONDS) -> list[Fault]:
        """Look for jobs in a state that must not be, and for what is overdue. Reads all unfinished jobs, locks nothing.

        Args:
            repair: also put in order what an actor would put in order by itself, each fault in a transaction of its own;
                the job's timeline says so. What only people can decide is left.
            grace: seconds that something may be overdue.
            patience: seconds that looking may take.
        """
        rows = await self._database.call("audit_jobs", timedelta(seconds=grace), timeout=patience)
        found = [Fault(**decoded(row)) for row in rows]
        return [await self.repair(fault) for fault in found] if repair else found

    async def are_few(self) -> bool:
        """Return whether an audit is quick because there are few jobs: some twenty thousand, finished ones included."""
        for table in ("jobs", "finished_jobs"):
            if not await self._database.call_value("is_small", table):
                return False
        return True

    async def repair(self, fault: Fault) -> Fault:
        """Put one finding of `audit` in order, in a transaction of its own. `is_repaired` of the answer tells whether it is
        gone now; what only people can decide stays."""
        done = await self._database.call_value(
            "repair_fault", fault.finding, fault.job_id, fault.subject, fault.explanation
        )
        return msgspec.structs.replace(fault, is_repaired=bool(done))

    async def recover_stale(self, minutes: float, *, worker: str | None = None) -> int:
        """Take back the jobs whose lease has run out, or whose worker has not renewed it for this time; returns how many.

        Args:
            minutes: more than 0.
            worker: only those of this one; its id, name or incarnation, or a beginning that only it has.

        Raises:
            BadInput: minutes out of range, or several living workers are meant.
            UnknownWorker: there is no such worker.
        """
        only = [] if worker is None else [worker]
        return int(str(await self._database.call_value("recover_stale_jobs", minutes, *only)))


class Jobs(JobLists, JobReading, JobChanges, JobBulk, JobUpkeep):
    """`client.jobs`. The commonest calls are on the client itself: `client.get`, `client.cancel`, `client.retry`."""
