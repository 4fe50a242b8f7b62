"""What the client and all its nouns share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from inspect import isawaitable
from typing import Any, TypeVar

from leasehold.app import App
from leasehold.app.registry import find_kind
from leasehold.asks import Ask, JobBatch, checked_by, is_known, read_enqueued
from leasehold.client.chain_ends import ChainEnds
from leasehold.client.convoy import Convoy
from leasehold.database import Caller, OpenTransaction, Row
from leasehold.database.calls import Hooks
from leasehold.database.connector import is_open, translated
from leasehold.drivers import Adapter, Style, find_adapter, refused_connection
from leasehold.errors import DatabaseUnavailable, NoTransaction
from leasehold.jobs.encoding import encode_document
from leasehold.jobs.kind import Kind
from leasehold.jobs.middleware import EnqueueMiddleware
from leasehold.jobs.new_job import NewJob
from leasehold.notify.doorbell import Doorbell
from leasehold.observability.context import current_actor
from leasehold.observability.observers import Observers
from leasehold.payloads.archive import Archive
from leasehold.payloads.claim_checks import Locker
from leasehold.payloads.options import PayloadOptions
from leasehold.records.jobs import EnqueuedJob


async def fetch_asyncpg(connection: Any, text: str, values: Sequence[Any]) -> list[Row]:
    """Run one statement in the transaction that is open. Without one asyncpg commits each statement by itself."""
    if not is_open(connection):
        raise DatabaseUnavailable("the connection cannot be used: it is closed, or back in its pool")
    if not connection.is_in_transaction():
        raise NoTransaction
    with translated(connection):
        return await connection.fetch(text, *values)


ASYNCPG = Adapter("numeric_dollar", fetch_asyncpg, awaits=True)


class DriverTransaction(Caller):
    """The transaction of the caller, on their connection. One that blocks does so here as with any other statement on it."""

    def __init__(self, connection: Any, adapter: Adapter) -> None:
        self._connection = connection
        self._adapter = adapter

    @property
    def style(self) -> Style:
        """That of the library."""
        return self._adapter.style

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement, written in the style of the driver. `timeout` is for those that are awaited."""
        rows: Any = self._adapter.fetch(self._connection, sql, args)
        if not isawaitable(rows):
            return rows
        async with asyncio.timeout(timeout):
            return await rows


T = TypeVar("T")


class Core:
    """The database that a client calls, and what surrounds its calls.

    Attributes:
        database: makes the calls. app: checks jobs and brings its middlewares and events; None without one.
        doorbell: wakes workers after the commit; None: the database does it inside the transaction.
        middlewares: go around what this client enqueues, inside those of the app.
        payloads: where payloads lie.
        observers: hear the events of this client; with an app they are the app's.
        convoy: sends single jobs that are enqueued at the same time together; None: each goes alone.
    """

    def __init__(
        self,
        database: Caller,
        *,
        app: App | None,
        doorbell: Doorbell | None,
        listens: bool,
        convoy: Convoy | None,
        payloads: PayloadOptions | None = None,
    ) -> None:
        self.database = database
        self.app = app
        self.doorbell = doorbell
        self.middlewares: list[EnqueueMiddleware] = []
        self.observers = Observers() if app is None else app.observers
        self.convoy = convoy
        self._listens = listens
        self.payloads = payloads or PayloadOptions()

    @cached_property
    def ends(self) -> ChainEnds:
        """Waits for the ends of chains; all waits of a client share it."""
        return ChainEnds(self.database, listens=self._listens)

    @cached_property
    def archive(self) -> Archive:
        """The payloads of this database."""
        return Archive(self.database, self.payloads.store, self.payloads.limit)

    @cached_property
    def locker(self) -> Locker:
        """Large args and outputs."""
        return self.payloads.locker(self.archive)

    def caller(self, connection: Any) -> Caller:
        """Makes the call: the database, or the caller's own transaction. Raises BadInput for anything else. The call raises
        NoTransaction where the connection has not begun one, and DatabaseUnavailable where it is closed."""
        if connection is None:
            return self.database
        if isinstance(connection, Caller):
            return connection
        adapter = find_adapter(connection)
        # Not by `fetch` alone: a pool has that as well, and would give each statement another connection.
        if adapter is None and not all(
            callable(getattr(connection, name, None)) for name in ("is_in_transaction", "fetch")
        ):
            raise refused_connection(connection)
        return DriverTransaction(connection, adapter or ASYNCPG)

    def hooks_of(self, connection: Any, hooks: Hooks | None) -> Hooks | None:
        """What waits for the commit of the caller's own transaction; None where nobody says when that is."""
        if hooks is None and isinstance(connection, OpenTransaction):
            return connection.hooks
        return hooks

    async def send(self, batch: JobBatch) -> list[EnqueuedJob]:
        """Write jobs in one statement, and wake workers: inside it where nobody was woken lately, else after its commit.

        A job that waits for nobody may share its statement with others that are enqueued at the same time.
        """
        jobs = batch.flat
        convoy = self.convoy if len(jobs) == 1 and waits_for_nobody(jobs[0]) and current_actor() is None else None
        doorbell = self.doorbell
        queues = batch.queues
        notify = doorbell is None or queues is None or ((convoy is None or convoy.is_idle) and doorbell.take_turn())
        if convoy is None:
            made = await answered(batch.ask(notify=notify), self.database)
        else:
            database: Any = self.database
            made = read_enqueued(
                [await database.in_asyncio(convoy.enqueue, encode_document(jobs[0]), notify, batch.is_checked)]
            )
        if doorbell is not None and queues is not None and not notify:
            doorbell.ring(queues)
        return made

    def ring(self, queues: set[str], hooks: Hooks | None) -> None:
        """Wake idle workers of these queues when `hooks` is flushed; without hooks the database does it inside the transaction."""
        doorbell = self.doorbell
        if doorbell is None or hooks is None:
            return
        for queue in queues:
            hooks.add(("wake", id(doorbell)), queue, lambda waiting: doorbell.ring(set(waiting)), once=True)

    def kind(self, name: str) -> Kind[..., Any] | None:
        """The kind as workers have it; None where this client has no app. Raises UnknownKind."""
        return None if self.app is None else find_kind(self.app, name)

    def knows(self, kind: str) -> bool:
        """Whether this client has an app that knows what a kind of this name wants."""
        return is_known(self.app, kind)

    def checked(self, job: NewJob[Any]) -> NewJob[Any]:
        """The job as it is sent. Raises InvalidArgs, UnknownKind, BadInput."""
        return checked_by(self.app, job)


def waits_for_nobody(job: NewJob[Any]) -> bool:
    """Whether the statement that enqueues the job never waits for a transaction that has the same key."""
    return job.idempotency_key is None and job.unique is None and not job.blockers


async def answered(ask: Ask[T], caller: Caller) -> T:
    """What comes of an ask."""
    return ask.read(await caller.call(ask.function, *ask.values))


class Part:
    """A part of the client: it holds the core that all parts share, and nothing else."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._database = core.database

    async def _ask(self, ask: Ask[T]) -> T:
        return await answered(ask, self._database)
