"""Connections of our own, from psycopg's pool, for programs that do not await."""

# psycopg is an extra, loaded when the first connection is needed: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import select
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from weakref import finalize

from leasehold.asks import Rows
from leasehold.drivers import call_text, fetch_psycopg_alone, raising_ours
from leasehold.errors import ClientClosed, DatabaseUnavailable
from leasehold.sync.connecting import Opener, needed

if TYPE_CHECKING:
    from leasehold.database.embedded import EmbeddedPostgres

CLOSED = "The client is closed: its `with` block has ended, or `close` was called. Use it before, or make another one."
CONNECT_SECONDS = 10
CONNECTION: Mapping[str, Any] = {
    "autocommit": True,
    "prepare_threshold": None,  # a pooler may give each statement another session
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""How each connection is opened: a server that does not answer any more is noticed within half a minute."""


class SyncDatabase:
    """A pool that is opened at the first call, and anew in a process that was forked, until it is closed. Threads may share it.

    Args:
        dsn: of libpq; empty: the PG… environment variables decide.
        pool_size: the most connections.
        timeout: seconds to wait for one of them.
        server: the embedded server, which is used from the first call to the end, and whose address takes the place of `dsn`.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pool_size: int,
        timeout: float,
        server: Callable[[], AbstractContextManager[EmbeddedPostgres]] | None = None,
    ) -> None:
        self.dsn = dsn
        self._server = server
        self._leave: Callable[[], object] | None = None
        self._pool_size = pool_size
        self._timeout = timeout
        self._pool: Any = None
        self._opener: Opener | None = None
        self._process: int | None = None
        self._is_closed = False
        self._lock = Lock()

    def call(self, function: str, *values: Any) -> Rows:
        """Call `leasehold.<function>`; it commits by itself."""
        with raising_ours(), self.connection() as connection:
            return fetch_psycopg_alone(connection, call_text(function, len(values), style="format"), values)

    @contextmanager
    def connection(self) -> Generator[Any]:
        """A connection of the pool that commits each statement by itself. What is raised in the block stays as it is.

        Raises ClientClosed, also where another thread closes it meanwhile; else what the awaited client raises where it cannot
        connect: at once where no waiting helps.
        """
        with ExitStack() as stack:
            pool, opener = self._opened()
            try:
                with raising_ours():
                    connection = stack.enter_context(pool.connection(timeout=self._timeout))
            except DatabaseUnavailable as error:
                if self._is_closed:
                    raise ClientClosed(CLOSED) from error
                raise opener.why(error) from error
            yield connection

    def close(self) -> None:
        """Close all connections. A second time does nothing."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
            if pool is not None and self._process == os.getpid():
                pool.close()
            if self._leave is not None:
                self._leave()

    def _opened(self) -> tuple[Any, Opener]:
        with self._lock:
            if self._is_closed:
                raise ClientClosed(CLOSED)
            is_copied = self._process != os.getpid()
            if self._server is not None and is_copied:
                self._use_server(self._server)
            if self._pool is None or self._pool.closed or is_copied:
                self._pool, self._opener = self._new_pool()
                self._process = os.getpid()
            assert self._opener is not None
            return self._pool, self._opener

    def _use_server(self, server: Callable[[], AbstractContextManager[EmbeddedPostgres]]) -> None:
        """Share the embedded server, until `close` or, where nobody calls that, until nobody has us or the process ends."""
        if self._leave is not None:
            self._leave()  # a copy of the process: its lock is the original's, and keeps the server from ending
        used = ExitStack()
        self.dsn = used.enter_context(server()).dsn
        self._leave = finalize(self, used.close)

    def _new_pool(self) -> tuple[Any, Opener]:
        pools: Any = needed("psycopg_pool")
        # In a thread of its own: it waits for those of the pool, of which one calls it.
        opener = Opener(lambda: Thread(target=pool.close, name="leasehold gives up", daemon=True).start())
        pool = pools.ConnectionPool(
            self.dsn,
            connection_class=opener,
            kwargs={"application_name": "leasehold", **CONNECTION},
            min_size=0,
            max_size=self._pool_size,
            timeout=self._timeout,
            check=check_silence,
            open=True,
            name="leasehold",
        )
        return pool, opener


def check_silence(connection: Any) -> None:
    """Close a connection whose server has gone, and raise DatabaseUnavailable, which the pool takes for a no. It asks nothing.

    An idle connection is silent: bytes that wait are the news of its end, or of a changed setting, which is as rare.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        connection.close()
        raise DatabaseUnavailable("the server has ended the connection")
