"""The synchronous client."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from leasehold import asks
from leasehold.asks import check_kind, check_progress, many_jobs, one_job, output_of, report_progress
from leasehold.drivers import BlockingConnection
from leasehold.events import Event, JobCancelled, JobRequeued
from leasehold.jobs.encoding import JobBatch, in_parts, read_enqueued
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import announce_after_commit, events_of
from leasehold.jobs.new_job import JobOptions, NewJob
from leasehold.records.jobs import EnqueuedJob, JobRecord
from leasehold.sync.chains import SyncChains, wait_for_end
from leasehold.sync.core import SyncCore, SyncEnqueueMiddleware, SyncPart, enqueue_in_turn, refused_if_async

if TYPE_CHECKING:
    from leasehold.app import App

E = TypeVar("E", bound=Event)
R = TypeVar("R")


class SyncClient(SyncPart):
    """The client for code that does not await. One for a whole program: threads may share it, and so may processes that fork.

    Args:
        dsn: a Postgres URL; empty: the PG… environment variables decide. None: what `leasehold run` would use, from
            LEASEHOLD_DATABASE_URL (with LEASEHOLD_DIRECT_DATABASE_URL), DATABASE_URL, leasehold.toml or PG…, else the embedded
            database of `leasehold up`, which runs at least as long as the client: close the client.
        app: check args against these kinds, and use its enqueue middlewares.
        pool_size: the most connections of our own, without those that listen. The first is opened when one is needed: never,
            where every call has a `connection` of yours.
        timeout: seconds to wait for one of them.
        listens: whether `wait` may open a connection that listens; without, it polls.
        direct_dsn: where to listen, when `dsn` leads through a pooler.
        payloads: where payloads lie, a folder or the address of an object store: `get`, `wait` and `chains` read large args and
            outputs there. None: without a `dsn` what LEASEHOLD_PAYLOADS_STORE says, else nowhere. `enqueue` writes none.

    `get`, `cancel`, `retry` and `wait` take and raise what those of the awaited client do.
    Every call raises `DatabaseUnavailable` when the database does not answer, and `SchemaMismatch` when
    `leasehold migrate` has not been run.

    Example:
        client = leasehold.sync.Client("postgresql://…", app=app)
        job_id = client.enqueue(greet.new(name="Ada"), priority=5)
    """

    def __init__(
        self,
        dsn: str | None = None,
        *,
        app: App | None = None,
        pool_size: int = 5,
        timeout: float = 10.0,
        listens: bool = True,
        direct_dsn: str | None = None,
        payloads: str | None = None,
    ) -> None:
        super().__init__(SyncCore(dsn, app, pool_size, timeout, listens, direct_dsn, payloads))

    def __enter__(self) -> SyncClient:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close our connections, as the end of a `with` block does. A later call that needs one raises ClientClosed, here and in
        processes that are forked then; a second time does nothing.
        """
        self._core.close()

    def enqueue(
        self,
        job: NewJob[Any] | str,
        args: Mapping[str, Any] | None = None,
        *,
        connection: BlockingConnection | None = None,
        notify: bool = True,
        **options: Unpack[JobOptions],
    ) -> int:
        """Enqueue one job and return its id, which is that of the chain it begins.

        Args:
            job: from `kind.new(...)`, or the name of a kind together with `args`.
            args: named arguments, where `job` is a name.
            connection: your own connection of psycopg, SQLAlchemy (Connection, Session) or Django: the job exists when, and
                only if, your transaction commits, and workers are woken then. It takes one statement of your transaction.
            notify: False: wake nobody; workers find the job when they look next, within seconds. For transactions that are
                prepared, in which Postgres allows no NOTIFY.
            options: as in `JobOptions`; they take the place of the job's own, as with `job.but(...)`.

        Raises:
            InvalidArgs: args do not fit the kind or are no JSON that Postgres keeps.
            UnknownKind: the client has an app that does not know the kind.
            BadInput: another field is refused, or an enqueue middleware is async.
            NoTransaction: each statement on `connection` commits by itself. psycopg and SQLAlchemy begin at the first one.
            UniqueConflict: another job has the unique key, and `unique` says to reject this one.
        """
        [job_id] = self.enqueue_many([one_job(job, args, options)], connection=connection, notify=notify)
        return job_id

    def enqueue_many(
        self,
        jobs: Sequence[NewJob[Any]],
        *,
        connection: BlockingConnection | None = None,
        notify: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> list[int]:
        """Enqueue jobs, all or none, and return their ids in the same order. Errors and other arguments as `enqueue`.

        It takes one statement, and a statement in one transaction for each ten thousand of a longer list.

        Args:
            progress: called after each statement with the number of jobs sent so far, before the commit. What it
                raises undoes all; in a transaction of yours, your rollback does.
        """
        made = self.enqueue_with_outcomes(jobs, connection=connection, notify=notify, progress=progress)
        return [each.job_id for each in made]

    def enqueue_with_outcomes(
        self,
        jobs: Sequence[NewJob[Any]],
        *,
        connection: BlockingConnection | None = None,
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
        layers = core.middlewares if core.app is None else [*core.app.enqueue_middlewares, *core.middlewares]
        enqueue = partial(self._enqueue, connection=connection, notify=notify, progress=progress)
        return enqueue_in_turn(layers, enqueue, jobs)

    def _enqueue(
        self,
        jobs: Sequence[NewJob[Any]],
        /,
        *,
        connection: BlockingConnection | None,
        notify: bool,
        progress: Callable[[int], object] | None,
    ) -> list[EnqueuedJob]:
        observers, events, made = self._core.observers, list[Event](), list[EnqueuedJob]()
        parts = [*in_parts(jobs)]
        is_ours = connection is None and (len(parts) > 1 or progress is not None)
        with self._core.transaction() if is_ours else nullcontext(connection) as chosen:
            for part in parts:
                batch = JobBatch(part, self._core.kind)
                answers = read_enqueued(self._core.call(chosen, "enqueue_jobs", *batch.values(notify=notify)))
                events += events_of(observers, batch.flat, answers) if observers.subscribed else ()
                made += batch.given(answers)
                report_progress(progress, len(made))
        announce_after_commit(observers, connection, None, events)
        return made

    def get(self, job_id: int) -> JobRecord:
        """Return one job."""
        return self._core.filled(self._core.ask(asks.get_job(job_id)))

    def cancel(self, job_id: int, reason: str | None = None) -> str:
        """Cancel a job that has not finished; returns the state it was in. A handler that runs is told to stop."""
        was = self._core.ask(asks.cancel_job(job_id, reason))
        if JobCancelled in self._core.observers.subscribed:
            self._core.observers.emit(JobCancelled(job_id=job_id, was=was, reason=reason))
        return was

    def retry(self, job_id: int) -> str:
        """Run a failed or cancelled job once more, or a scheduled one now; returns its new state."""
        state = self._core.ask(asks.retry_job(job_id))
        if JobRequeued in self._core.observers.subscribed:
            self._core.observers.emit(JobRequeued(job_id=job_id, state=state))
        return state

    @overload
    def wait(self, chain_id: int, *, timeout: float | timedelta | None = None) -> Any: ...
    @overload
    def wait(self, chain_id: int, *, kind: Kind[..., R], timeout: float | timedelta | None = None) -> R: ...
    def wait(
        self, chain_id: int, *, kind: Kind[..., Any] | None = None, timeout: float | timedelta | None = None
    ) -> Any:
        """Wait until a chain ends, and return its output. A wait that goes on has a connection of its own that listens."""
        check_kind(kind)
        return output_of(self._core.filled(wait_for_end(self._core, chain_id, timeout)), kind)

    @contextmanager
    def transaction(self) -> Generator[Any]:
        """Open a transaction on a connection of ours, a `psycopg.Connection`: it commits with the block, or rolls back.

        What your statements and the commit raise are errors of psycopg.

        Example:
            with client.transaction() as connection:
                connection.execute("insert into orders values (%s)", (42,))
                client.enqueue(ship.new(order=42), connection=connection)
        """
        with self._core.database.connection() as connection, connection.transaction():
            yield connection

    def enqueue_middleware(self, function: SyncEnqueueMiddleware) -> None:
        """Put a middleware around what this client enqueues, inside those of its app.

        Raises:
            BadInput: it is async, or not a function of two arguments.
        """
        self._core.middlewares.append(refused_if_async(function))

    def subscribe(self, event_type: type[E], function: Callable[[E], object]) -> Callable[[], None]:
        """Call `function` with each event of this type that this client tells; returns what ends that again.

        Nothing is told of what happens on a connection of yours: it does not say when it commits.
        """
        return self._core.observers.subscribe(event_type, function)

    @cached_property
    def chains(self) -> SyncChains:
        """Chains of jobs: `client.chains.get(42)`."""
        return SyncChains(self._core)
