"""Enqueueing, without awaiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Unpack

from leasehold.asks.enqueueing import JobBatch, many_jobs, one_job
from leasehold.jobs.middleware import events_of, tell_after_commit
from leasehold.jobs.new_job import JobOptions, NewJob
from leasehold.records.jobs import EnqueuedJob
from leasehold.sync.core import SyncPart
from leasehold.sync.middlewares import enqueue_in_turn


class SyncEnqueues(SyncPart):
    """The part of the client that makes jobs."""

    def enqueue(
        self,
        job: NewJob[Any] | str,
        args: Mapping[str, Any] | None = None,
        *,
        connection: Any = None,
        **options: Unpack[JobOptions],
    ) -> int:
        """Enqueue one job and return its id, which is that of the chain it begins.

        Args:
            job: from `kind.new(...)`, or the name of a kind together with `args`.
            args: named arguments, where `job` is a name.
            connection: your own connection of psycopg, SQLAlchemy (Connection, Session) or Django: the job exists when, and
                only if, your transaction commits, and workers are woken then. It takes one statement of your transaction.
            options: as in `JobOptions`; they take the place of the job's own, as with `job.but(...)`.

        Raises:
            InvalidArgs: args do not fit the kind or are no JSON that Postgres keeps.
            UnknownKind: the client has an app that does not know the kind.
            BadInput: another field is refused, or an enqueue middleware is async.
            NoTransaction: each statement on `connection` commits by itself. psycopg and SQLAlchemy begin at the first one.
            UniqueConflict: another job has the unique key, and `unique` says to reject this one.
        """
        return self.enqueue_many([one_job(job, args, options)], connection=connection)[0].job_id

    def enqueue_many(self, jobs: Sequence[NewJob[Any]], *, connection: Any = None) -> list[EnqueuedJob]:
        """Enqueue jobs in one statement, all or none; answers in their order. Errors and `connection` as `enqueue`."""
        jobs = many_jobs(jobs)
        if not jobs:
            return []
        core = self._core
        layers = core.middlewares if core.app is None else [*core.app.enqueue_middlewares, *core.middlewares]
        return enqueue_in_turn(layers, partial(self._enqueue, connection=connection), jobs)

    def _enqueue(self, jobs: Sequence[NewJob[Any]], /, *, connection: Any) -> list[EnqueuedJob]:
        batch = JobBatch(jobs, self._core.checked, self._core.knows)
        made = self._core.ask(batch.ask(notify=True), connection)
        observers = self._core.observers
        if observers.heard:
            tell_after_commit(observers, connection, None, events_of(observers, batch.flat, made))
        return batch.given(made)
