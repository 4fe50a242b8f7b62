"""What the synchronous client and its nouns share."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import msgspec

from leasehold import validation
from leasehold.asks import Ask, Rows, kind_in, observers_of
from leasehold.drivers import call_text, class_name, find_adapter, raising_ours, refused_connection
from leasehold.errors import BadInput
from leasehold.jobs.middleware import checked_answer
from leasehold.jobs.new_job import NewJob
from leasehold.payloads.claim_checks import filled
from leasehold.payloads.options import open_store
from leasehold.records.jobs import EnqueuedJob
from leasehold.sync.database import SyncDatabase

if TYPE_CHECKING:
    from leasehold.app import App
    from leasehold.payloads.stores import BlobStore

M = TypeVar("M")

T = TypeVar("T")
R = TypeVar("R", bound=msgspec.Struct)


@dataclass(eq=False, repr=False)
class SyncCore:
    """The database that a synchronous client calls, and what surrounds its calls. Arguments as `SyncClient`."""

    dsn: str | None
    app: App | None
    pool_size: int
    timeout: float
    listens: bool
    direct_dsn: str | None
    payloads: str | None
    _store: BlobStore | None = None
    _database: SyncDatabase | None = None

    def __post_init__(self) -> None:
        self.kind = partial(kind_in, self.app)
        self._lock = Lock()
        self.middlewares: list[SyncEnqueueMiddleware] = []
        self.observers = observers_of(self.app)

    @property
    def database(self) -> SyncDatabase:
        """Connections of our own. Raises SettingsError where nobody said which database, and the settings say nonsense."""
        with self._lock:
            if self._database is None:
                self._database = self._configured() if self.dsn is None else self._new_database(self.dsn)
            return self._database

    def _configured(self) -> SyncDatabase:
        """What the settings name, with the way to it without its pooler and where payloads lie; else that of `leasehold up`."""
        from leasehold.settings import load_settings  # noqa: PLC0415  only where nobody says which database

        settings = load_settings({}, os.environ)
        self.direct_dsn = self.direct_dsn or settings.direct_database_url
        self.payloads = self.payloads or settings.payloads_store
        if settings.database_url is not None:
            return self._new_database(settings.database_url)
        from leasehold.database.embedded import embedded_of_up  # noqa: PLC0415  only where nothing else is configured

        server = partial(embedded_of_up, settings.data_folder, 'leasehold.sync.Client("postgresql://…")')
        return self._new_database("", server=server)

    def _new_database(self, dsn: str, **options: Any) -> SyncDatabase:
        return SyncDatabase(dsn, pool_size=self.pool_size, timeout=self.timeout, **options)

    def close(self) -> None:
        """Close the connections that were opened, and open no other ones."""
        with self._lock:
            self._database = self._database or self._new_database("")
        self._database.close()

    def call(self, connection: Any, function: str, *values: Any) -> Rows:
        """Call `leasehold.<function>` on the pool, or in the caller's own transaction.

        Raises BadInput for what is no connection, or is awaited.
        """
        if connection is None:
            return self.database.call(function, *values)
        adapter = find_adapter(connection)
        if adapter is None and not callable(getattr(connection, "fetch", None)):
            raise refused_connection(connection)
        if adapter is None or adapter.awaits:
            raise BadInput(
                f"a connection of {class_name(connection)} is awaited, and a synchronous client awaits nothing;"
                " use the client of leasehold.open_client, or leasehold.enqueue_statement(job)"
            )
        return adapter.fetch(connection, call_text(function, len(values), style=adapter.style), values)

    @contextmanager
    def transaction(self) -> Generator[Any]:
        """A connection of our own in a transaction, which commits with the block. Raises BadInput for psycopg's Rollback,
        which else would undo all without a word."""
        is_whole = False
        with self.database.connection() as connection, ExitStack() as transaction:
            with raising_ours():
                transaction.enter_context(connection.transaction())
            yield connection
            is_whole = True
            with raising_ours():
                transaction.close()
        if not is_whole:
            raise BadInput("psycopg.Rollback was raised, so nothing was done; raise another error to say why")

    def ask(self, ask: Ask[T], connection: Any = None) -> T:
        """What comes of an ask."""
        return ask.read(self.call(connection, ask.function, *ask.values))

    def filled(self, record: R) -> R:
        """The record with its large args and output, where the client knows the store. Raises as `payloads.claim_checks`."""
        if self.payloads is None or all(getattr(record, name, None) is None for name in ("args", "output")):
            return record
        self._store = self._store or open_store(self.payloads)
        return filled(record, self._store, self.database.call)


class SyncPart:
    """A part of the client: it holds the core that all parts share, and nothing else."""

    def __init__(self, core: SyncCore) -> None:
        self._core = core


class SyncEnqueueNext(Protocol):
    """Runs the next middleware, or enqueues the jobs."""

    def __call__(self, jobs: Sequence[NewJob], /) -> list[EnqueuedJob]:
        """Enqueue these jobs; the answers are in their order."""
        ...


class SyncEnqueueMiddleware(Protocol):
    """A function around every enqueue of a synchronous client. It may change the jobs, but not how many they are."""

    def __call__(self, jobs: Sequence[NewJob], call_next: SyncEnqueueNext, /) -> list[EnqueuedJob]:
        """Do something around `call_next(jobs)`."""
        ...


def enqueue_in_turn(layers: Sequence[Any], enqueue: SyncEnqueueNext, jobs: Sequence[NewJob]) -> list[EnqueuedJob]:
    """Run `enqueue` inside the middlewares, the first outermost. Raises BadInput, before anything is written, for an async one."""
    call = enqueue
    for layer in reversed([refused_if_async(each) for each in layers]):
        call = partial(_call, layer, call)
    return call(jobs)


def refused_if_async(layer: M) -> M:
    """The middleware. Raises BadInput for one that has to be awaited, or that is no function."""
    validation.check_middleware(cast("Any", layer), "the jobs and call_next")
    if iscoroutinefunction(layer) or iscoroutinefunction(getattr(layer, "__call__", None)):  # noqa: B004  its own, if async
        raise _refusal(layer)
    return layer


def _call(layer: Any, call_next: SyncEnqueueNext, jobs: Sequence[NewJob], /) -> list[EnqueuedJob]:
    made = layer(jobs, call_next)
    if isawaitable(made):
        if iscoroutine(made):
            made.close()
        raise _refusal(layer)
    return checked_answer(layer, made, "call_next(jobs)")


def _refusal(layer: Any) -> BadInput:
    name = getattr(layer, "__qualname__", repr(layer))
    return BadInput(
        f"enqueue middleware {name} is async, and a synchronous client awaits nothing; write it as a `def` that returns"
        " `call_next(jobs)`, which serves both clients"
    )
