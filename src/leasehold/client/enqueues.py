"""Enqueueing; args that are too large for a row go to the payload store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Unpack, cast

import msgspec

from leasehold.asks import check_progress, many_jobs, one_job, report_progress
from leasehold.client.core import Part
from leasehold.database import Caller, OpenTransaction, Row
from leasehold.database.calls import CallersConnection, Hooks
from leasehold.errors import BadInput
from leasehold.jobs.encoding import JobBatch, encode_document, in_parts, read_enqueued
from leasehold.jobs.middleware import announce_after_commit, enqueue_within, events_of
from leasehold.jobs.new_job import JobOptions, NewJob, waits_for_nobody
from leasehold.observability.context import current_actor
from leasehold.payloads.archive import CERTAIN
from leasehold.payloads.claim_checks import Deposit, Locker
from leasehold.records.jobs import EnqueuedJob

KEPT = ("existing", "extended")
"""Outcomes of an enqueue after which the job has the args that it had."""

Deposits = dict[int, Deposit]
"""By the place of the job in the list."""


async def deposit_large(locker: Locker, jobs: Sequence[NewJob[Any]]) -> tuple[list[NewJob[Any]], Deposits]:
    """The jobs, with claim checks in the place of large args, whose content is in the store now.

    Args that `unique` compares stay in the row: two claim checks are never equal.
    """
    sent, deposits = list(jobs), Deposits()
    try:
        for place, job in enumerate(jobs):
            args: Any = job.args
            if isinstance(args, msgspec.Raw) and locker.is_large(len(memoryview(args))) and not _compares_args(job):
                deposits[place] = await locker.deposit(bytes(args), "args", job.kind)
                sent[place] = msgspec.structs.replace(job, args=msgspec.Raw(deposits[place].check.encode()))
    except BaseException:
        await forget(locker, deposits.values())
        raise
    return sent, deposits


def _compares_args(job: NewJob[Any]) -> bool:
    unique = job.unique
    return unique is not None and unique.key is None and any(name.startswith("args") for name in unique.by or ("args",))


async def write_with(locker: Locker, caller: Caller, batch: JobBatch, deposits: Deposits, notify: bool) -> list[Row]:
    """Enqueue the jobs in this transaction, and make the rows of the payloads that they name."""
    rows = await caller.call("enqueue_jobs", *batch.values(notify=notify))
    for place, deposit in deposits.items():
        if rows[place]["outcome"] not in KEPT:
            await locker.record(deposit, rows[place]["job_id"], caller)
    return rows


async def forget(locker: Locker, deposits: Iterable[Deposit]) -> None:
    """Delete this content."""
    for deposit in deposits:
        await locker.forget(deposit)


class Enqueues(Part):
    """The part of `Client` that makes jobs."""

    async def enqueue(
        self,
        job: NewJob[Any] | str,
        args: Mapping[str, Any] | None = None,
        *,
        connection: CallersConnection | None = None,
        hooks: Hooks | None = None,
        notify: bool = True,
        **options: Unpack[JobOptions],
    ) -> int:
        """Enqueue one job and return its id, which is that of the chain it begins. When this returns, the job survives a
        crash of anything. Calls that overlap on one client share a statement; each has its own answer or error.

        Args:
            job: from `kind.new(...)`, or the name of a kind together with `args`.
            args: named arguments, where `job` is a name.
            connection: your own connection: the job exists when, and only if, your transaction commits. Of asyncpg, psycopg,
                SQLAlchemy (Connection, Session, AsyncConnection, AsyncSession) or Django; under trio a `Transaction`.
            hooks: with a connection of yours: from `client.hooks()`; workers are woken and events told when it is flushed.
            notify: False: wake nobody; workers find the job when they look next, within seconds. For transactions that are
                prepared, in which Postgres allows no NOTIFY.
            options: as in `JobOptions`; they take the place of the job's own, as with `job.but(...)`.

        Raises:
            InvalidArgs: args do not fit the kind or are no JSON that Postgres keeps.
            UnknownKind: the client has an app that does not know the kind.
            BadInput: another field is refused.
            NoTransaction: each statement on `connection` commits by itself. psycopg and SQLAlchemy begin at the first one.
            UniqueConflict: another job has the unique key, and `unique` says to reject this one.
        """
        jobs = [one_job(job, args, options)]
        [job_id] = await self.enqueue_many(jobs, connection=connection, hooks=hooks, notify=notify)
        return job_id

    async def enqueue_many(
        self,
        jobs: Sequence[NewJob[Any]],
        *,
        connection: CallersConnection | None = None,
        hooks: Hooks | None = None,
        notify: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> list[int]:
        """Enqueue jobs, all or none, and return their ids in the same order. Errors and other arguments as `enqueue`.

        It takes one statement, and a statement in one transaction for each ten thousand of a longer list.

        Args:
            progress: called after each statement with the number of jobs sent so far, before the commit. It must return soon, and
                what it raises undoes all; in a transaction of yours, your rollback does.

        Example:
            with tqdm(total=len(jobs)) as bar:
                await client.enqueue_many(jobs, progress=lambda sent: bar.update(sent - bar.n))
        """
        made = await self.enqueue_with_outcomes(
            jobs, connection=connection, hooks=hooks, notify=notify, progress=progress
        )
        return [each.job_id for each in made]

    async def enqueue_with_outcomes(
        self,
        jobs: Sequence[NewJob[Any]],
        *,
        connection: CallersConnection | None = None,
        hooks: Hooks | None = None,
        notify: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> list[EnqueuedJob]:
        """Enqueue jobs as `enqueue_many`, and tell of each whether it is new or what became of the one that was there.

        For jobs with an idempotency key or a unique key.
        """
        jobs = many_jobs(jobs)
        check_progress(progress)
        if not jobs:
            return []
        core = self._core
        layers = core.middlewares if core.app is None else (*core.app.enqueue_middlewares, *core.middlewares)
        if layers:
            write = partial(self._write, connection=connection, hooks=hooks, notify=notify, progress=progress)
            return await enqueue_within(layers, write, jobs)
        return await self._write(jobs, connection=connection, hooks=hooks, notify=notify, progress=progress)

    async def _write(
        self,
        jobs: Sequence[NewJob[Any]],
        *,
        connection: CallersConnection | None,
        hooks: Hooks | None,
        notify: bool,
        progress: Callable[[int], object] | None,
    ) -> list[EnqueuedJob]:
        """Write what the middlewares have made of a list: perhaps nothing, perhaps more than fits into one statement."""
        database = cast("Any", self._database)
        begins = connection is None and hasattr(database, "transaction")
        parts = [*in_parts(jobs)] if begins or connection is not None else [jobs]
        if not jobs or (len(parts) == 1 and progress is None):
            return await self._write_part(jobs, connection, hooks, notify) if jobs else []
        made: list[EnqueuedJob] = []
        async with database.transaction() if begins else nullcontext(connection) as transaction:
            for part in parts:
                made += await self._write_part(part, transaction, hooks, notify)
                report_progress(progress, len(made))
        return made

    async def _write_part(
        self, jobs: Sequence[NewJob[Any]], connection: CallersConnection | None, hooks: Hooks | None, notify: bool
    ) -> list[EnqueuedJob]:
        core, database = self._core, cast("Any", self._database)
        batch = JobBatch(jobs, core.kind)
        batch.flat, deposits = await deposit_large(core.locker, batch.flat)
        if hooks is None and isinstance(connection, OpenTransaction):
            hooks = connection.hooks
        if deposits:
            rows = await self._send_large(batch, deposits, connection, notify)
        elif connection is not None or hooks is not None or not notify:
            rows = await self._send_within(batch, connection, hooks, notify)
        else:
            doorbell, queues, first = core.doorbell, batch.queues, batch.flat[0]
            is_alone = len(batch.flat) == 1 and waits_for_nobody(first) and current_actor() is None
            convoy = core.convoy if is_alone else None
            wakes = doorbell is None or queues is None or ((convoy is None or convoy.is_idle) and doorbell.take_over())
            if convoy is None:
                rows = await database.call("enqueue_jobs", *batch.values(notify=wakes))
            else:
                rows = [await database.in_asyncio(convoy.enqueue, encode_document(first), wakes, batch.is_checked)]
            if doorbell is not None and queues is not None and not wakes:
                doorbell.ring(queues)
        made = read_enqueued(rows)
        if core.observers.subscribed:
            announce_after_commit(core.observers, connection, hooks, events_of(core.observers, batch.flat, made))
        return batch.given(made)

    async def _send_within(
        self, batch: JobBatch, connection: CallersConnection | None, hooks: Hooks | None, notify: bool
    ) -> list[Row]:
        """Enqueue jobs on a connection of the caller's. The doorbell rings when `hooks` is flushed; without hooks the statement
        wakes workers."""
        caller, doorbell = self._core.caller(connection), self._core.doorbell
        queues = batch.queues if notify else None
        if doorbell is None or hooks is None or queues is None:
            return await caller.call("enqueue_jobs", *batch.values(notify=notify))
        rows = await caller.call("enqueue_jobs", *batch.values(notify=False))
        for queue in queues:
            hooks.add(("wake", id(doorbell)), queue, lambda waiting: doorbell.ring(set(waiting)), once=True)
        return rows

    async def _send_large(
        self, batch: JobBatch, deposits: Deposits, connection: CallersConnection | None, notify: bool
    ) -> list[Row]:
        """Enqueue jobs some of whose args are in the payload store. The statement wakes workers at the commit."""
        locker = self._core.locker
        if connection is not None:
            return await write_with(locker, self._core.caller(connection), batch, deposits, notify)
        database: Any = self._database
        if not hasattr(database, "transaction"):
            await forget(locker, deposits.values())
            raise BadInput(f"args this large need a client of open_client, not one that calls over {database!r}")
        try:
            async with database.transaction() as transaction:
                rows = await write_with(locker, transaction, batch, deposits, notify)
        except CERTAIN:
            await forget(locker, deposits.values())
            raise
        await forget(locker, [deposit for place, deposit in deposits.items() if rows[place]["outcome"] in KEPT])
        return rows
