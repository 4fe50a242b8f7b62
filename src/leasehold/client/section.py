"""What all sections of the client share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from leasehold.app import App
from leasehold.app.builtin import find_kind
from leasehold.database import AsyncioTransaction, Caller, OpenTransaction
from leasehold.database.hooks import Hooks
from leasehold.errors import BadInput
from leasehold.events import Event
from leasehold.jobs.enqueueing.encoding import check_job
from leasehold.jobs.kinds.kind import Kind
from leasehold.jobs.kinds.middleware import EnqueueMiddleware
from leasehold.jobs.producing.new_job import NewJob
from leasehold.notify.doorbell import Doorbell
from leasehold.observability.observers import Observers

E = TypeVar("E", bound=Event)


class Section:
    """A part of `Client`, which is made of all of them."""

    def __init__(
        self, database: Caller, *, app: App | None = None, doorbell: Doorbell | None = None, listens: bool = True
    ) -> None:
        self._database = database
        self._app = app
        self._doorbell = doorbell
        self._listens = listens
        self._middlewares: list[EnqueueMiddleware] = []
        self.observers = Observers() if app is None else app.observers

    def enqueue_middleware(self, function: EnqueueMiddleware) -> None:
        """Put a middleware around what this client enqueues, inside those of its app."""
        self._middlewares.append(function)

    def subscribe(self, event_type: type[E], function: Callable[[E], object]) -> Callable[[], None]:
        """As `App.subscribe`; a client with an app shares that app's events."""
        return self.observers.subscribe(event_type, function)

    def _caller(self, connection: Any) -> Caller:
        """Whoever makes the call: the database, or the caller's own transaction. Raises BadInput for what is none."""
        if connection is None:
            return self._database
        if isinstance(connection, Caller):
            return connection
        if not callable(getattr(connection, "fetch", None)):
            made = connection.__class__
            raise BadInput(
                f"connection must be an asyncpg connection or a transaction of leasehold, not {made.__module__}.{made.__name__};"
                " over another driver or an ORM call the SQL function itself: select leasehold.enqueue_job(...), see"
                " docs/recipes.md"
            )
        return AsyncioTransaction(connection)

    def _hooks_of(self, connection: Any, hooks: Hooks | None) -> Hooks | None:
        """What waits for the commit of the caller's own transaction, where somebody will say when that is."""
        if hooks is not None:
            return hooks
        return connection.hooks if isinstance(connection, OpenTransaction) and connection.flushes else None

    def _ring(self, doorbell: Doorbell, queues: set[str], hooks: Hooks | None) -> None:
        """Wake idle workers of these queues, now or after the commit."""
        if hooks is None:
            doorbell.ring(queues)
            return
        for queue in queues:
            hooks.add(("wake", id(doorbell)), queue, lambda waiting: doorbell.ring(set(waiting)), once=True)

    def _kind(self, name: str) -> Kind[..., Any] | None:
        """The kind as workers have it, where this client has an app. Raises UnknownKind."""
        return None if self._app is None else find_kind(self._app, name)

    def _checked(self, job: NewJob[Any]) -> NewJob[Any]:
        """The job as it is sent. Raises InvalidArgs, UnknownKind, BadInput."""
        return check_job(job, self._kind(job.kind))
