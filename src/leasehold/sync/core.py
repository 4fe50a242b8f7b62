"""What the synchronous client and its nouns share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from leasehold.asks.ask import Ask, Rows
from leasehold.drivers.adapter import Adapter
from leasehold.drivers.finding import class_name, find_adapter, refused_connection
from leasehold.drivers.statements import call_text
from leasehold.errors import BadInput
from leasehold.jobs.encoding import check_job
from leasehold.jobs.new_job import NewJob
from leasehold.observability.observers import Observers
from leasehold.sync.database import SyncDatabase
from leasehold.sync.middlewares import SyncEnqueueMiddleware

if TYPE_CHECKING:
    from leasehold.app import App
    from leasehold.payloads.stores import BlobStore

T = TypeVar("T")
R = TypeVar("R", bound=msgspec.Struct)


class SyncCaller(Protocol):
    """Calls SQL functions: our pool, or a connection of the caller's."""

    def call(self, function: str, *values: Any) -> Rows:
        """Call `leasehold.<function>`."""
        ...


class SyncTransaction:
    """The transaction of the caller, on their connection."""

    def __init__(self, connection: Any, adapter: Adapter) -> None:
        self._connection = connection
        self._adapter = adapter

    def call(self, function: str, *values: Any) -> Rows:
        """Call `leasehold.<function>` inside the transaction, as one statement."""
        text = call_text(function, len(values), style=self._adapter.style)
        return self._adapter.fetch(self._connection, text, values)


class SyncCore:
    """The database that a synchronous client calls, and what surrounds its calls. Arguments as `SyncClient`."""

    def __init__(
        self,
        dsn: str | None,
        *,
        app: App | None,
        pool_size: int,
        timeout: float,
        listens: bool,
        direct_dsn: str | None,
        payloads: str | None,
    ) -> None:
        self.app = app
        self.listens = listens
        self.middlewares: list[SyncEnqueueMiddleware] = []
        self.observers = Observers() if app is None else app.observers
        self._dsn = dsn
        self._direct_dsn = direct_dsn
        self._payloads = payloads
        self._store: BlobStore | None = None
        self._pool_size = pool_size
        self._timeout = timeout
        self._database: SyncDatabase | None = None

    @property
    def database(self) -> SyncDatabase:
        """Connections of our own. Raises SettingsError where nobody said which database, and the settings say nonsense."""
        if self._database is None:
            if self._dsn is None:
                self._dsn, direct_dsn, payloads = _configured()
                self._direct_dsn = self._direct_dsn or direct_dsn
                self._payloads = self._payloads or payloads
            self._database = SyncDatabase(self._dsn, pool_size=self._pool_size, timeout=self._timeout)
        return self._database

    @property
    def direct_dsn(self) -> str:
        """Where to listen."""
        return self._direct_dsn or self.database.dsn

    def close(self) -> None:
        """Close the connections that were opened."""
        if self._database is not None:
            self._database.close()

    def caller(self, connection: Any) -> SyncCaller:
        """Makes the call: the pool, or the caller's own transaction. Raises BadInput for what is no connection, or is awaited."""
        if connection is None:
            return self.database
        adapter = find_adapter(connection)
        if adapter is None and not callable(getattr(connection, "fetch", None)):
            raise refused_connection(connection)
        if adapter is None or adapter.awaits:
            raise BadInput(
                f"a connection of {class_name(connection)} is awaited, and a synchronous client awaits nothing;"
                " use the client of leasehold.open_client, or leasehold.enqueue_statement(job)"
            )
        return SyncTransaction(connection, adapter)

    def ask(self, ask: Ask[T], connection: Any = None) -> T:
        """What comes of an ask."""
        return ask.read(self.caller(connection).call(ask.function, *ask.values))

    def filled(self, record: R) -> R:
        """The record with its large args and output, where this client knows the payload store. Raises as `payloads.claims`."""
        if self._payloads is None or all(getattr(record, name, None) is None for name in ("args", "output")):
            return record
        from leasehold.payloads.claims import filled  # noqa: PLC0415  few clients have a store
        from leasehold.payloads.options import open_store  # noqa: PLC0415  the same

        self._store = self._store or open_store(self._payloads)
        return filled(record, self._store, self.database.call)

    def knows(self, kind: str) -> bool:
        """Whether this client has an app that knows what a kind of this name wants."""
        if self.app is None:
            return False
        from leasehold.app.registry import knows  # noqa: PLC0415  as below

        return knows(self.app, kind)

    def checked(self, job: NewJob[Any]) -> NewJob[Any]:
        """The job as it is sent. Raises InvalidArgs, UnknownKind, BadInput."""
        if self.app is None:
            return check_job(job, None)
        from leasehold.app.registry import find_kind  # noqa: PLC0415  who has an app has loaded it; others need not

        return check_job(job, find_kind(self.app, job.kind))


class SyncPart:
    """A part of the client: it holds the core that all parts share, and nothing else."""

    def __init__(self, core: SyncCore) -> None:
        self._core = core


def _configured() -> tuple[str, str | None, str | None]:
    """The database that the settings name, the way to it without its pooler, and where payloads lie."""
    from leasehold.settings import load_settings  # noqa: PLC0415  only where nobody says which database

    settings = load_settings({}, os.environ)
    return settings.database_url or "", settings.direct_database_url, settings.payloads_store
