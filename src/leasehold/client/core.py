"""What the client and all its nouns share."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from leasehold.app import App
from leasehold.app.builtin import find_kind
from leasehold.client.waiting.ends import ChainEnds
from leasehold.database import AsyncioTransaction, Caller, OpenTransaction
from leasehold.database.hooks import Hooks
from leasehold.errors import BadInput, NoTransaction
from leasehold.jobs.enqueueing.encoding import check_job
from leasehold.jobs.kinds.kind import Kind
from leasehold.jobs.kinds.middleware import EnqueueMiddleware
from leasehold.jobs.producing.new_job import NewJob
from leasehold.notify.doorbell import Doorbell
from leasehold.observability.observers import Observers


class Core:
    """The database that a client calls, and what surrounds its calls.

    Attributes:
        database: makes the calls. app: checks jobs and brings its middlewares and events; None without one.
        doorbell: wakes workers after the commit; None: the database does it inside the transaction.
        middlewares: go around what this client enqueues, inside those of the app.
        observers: hear the events of this client; with an app they are the app's.
    """

    def __init__(self, database: Caller, *, app: App | None, doorbell: Doorbell | None, listens: bool) -> None:
        self.database = database
        self.app = app
        self.doorbell = doorbell
        self.middlewares: list[EnqueueMiddleware] = []
        self.observers = Observers() if app is None else app.observers
        self._listens = listens

    @cached_property
    def ends(self) -> ChainEnds:
        """Waits for the ends of chains; all waits of a client share it."""
        return ChainEnds(self.database, listens=self._listens)

    def caller(self, connection: Any) -> Caller:
        """Makes the call: the database, or the caller's own transaction. Raises BadInput for anything else, and NoTransaction for
        a connection that has not begun one."""
        if connection is None:
            return self.database
        if isinstance(connection, Caller):
            return connection
        if not callable(getattr(connection, "fetch", None)):
            made = connection.__class__
            raise BadInput(
                f"connection must be an asyncpg connection or a transaction of leasehold, not {made.__module__}.{made.__name__};"
                " over another driver or an ORM call the SQL function itself: select leasehold.enqueue_job(...), see"
                " docs/recipes.md"
            )
        is_in_transaction = getattr(connection, "is_in_transaction", None)
        if callable(is_in_transaction) and not is_in_transaction():
            raise NoTransaction
        return AsyncioTransaction(connection)

    def hooks_of(self, connection: Any, hooks: Hooks | None) -> Hooks | None:
        """What waits for the commit of the caller's own transaction; None where nobody says when that is."""
        if hooks is not None:
            return hooks
        return connection.hooks if isinstance(connection, OpenTransaction) and connection.flushes else None

    def ring(self, doorbell: Doorbell, queues: set[str], hooks: Hooks | None) -> None:
        """Wake idle workers of these queues, now or after the commit."""
        if hooks is None:
            doorbell.ring(queues)
            return
        for queue in queues:
            hooks.add(("wake", id(doorbell)), queue, lambda waiting: doorbell.ring(set(waiting)), once=True)

    def kind(self, name: str) -> Kind[..., Any] | None:
        """The kind as workers have it; None where this client has no app. Raises UnknownKind."""
        return None if self.app is None else find_kind(self.app, name)

    def checked(self, job: NewJob[Any]) -> NewJob[Any]:
        """The job as it is sent. Raises InvalidArgs, UnknownKind, BadInput."""
        return check_job(job, self.kind(job.kind))


class Part:
    """A part of the client: it holds the core that all parts share, and nothing else."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._database = core.database
