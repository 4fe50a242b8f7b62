"""Connections of our own, from psycopg's pool, for programs that do not await."""

# psycopg is an extra, loaded when the first connection is needed: nothing of it is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
import select
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from threading import Lock
from typing import Any

from leasehold.asks import Rows
from leasehold.drivers import call_text, fetch_psycopg_alone, raising_ours
from leasehold.errors import BadInput, ClientClosed, DatabaseUnavailable

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
    """

    def __init__(self, dsn: str, *, pool_size: int, timeout: float) -> None:
        self.dsn = dsn
        self._pool_size = pool_size
        self._timeout = timeout
        self._pool: Any = None
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

        Raises ClientClosed, also where another thread closes it meanwhile.
        """
        with ExitStack() as stack:
            try:
                with raising_ours():
                    connection = stack.enter_context(self._opened().connection(timeout=self._timeout))
            except DatabaseUnavailable as error:
                if self._is_closed:
                    raise ClientClosed(CLOSED) from error
                raise
            yield connection

    def close(self) -> None:
        """Close all connections. A second time does nothing."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
            if pool is not None and self._process == os.getpid():
                pool.close()

    def _opened(self) -> Any:
        with self._lock:
            if self._is_closed:
                raise ClientClosed(CLOSED)
            if self._pool is None or self._process != os.getpid():
                self._pool = self._new_pool()
                self._process = os.getpid()
            return self._pool

    def _new_pool(self) -> Any:
        pools: Any = needed("psycopg_pool")
        return pools.ConnectionPool(
            self.dsn,
            kwargs={"application_name": "leasehold", **CONNECTION},
            min_size=0,
            max_size=self._pool_size,
            timeout=self._timeout,
            check=check_silence,
            open=True,
            name="leasehold",
        )


def needed(name: str) -> Any:
    """The module of the extra. Raises BadInput, which says what to install."""
    try:
        return import_module(name)
    except ImportError as error:
        raise BadInput(
            f"a synchronous client on connections of its own needs {name}: pip install 'leasehold[psycopg]'"
        ) from error


def check_silence(connection: Any) -> None:
    """Close a connection whose server has gone, and raise DatabaseUnavailable, which the pool takes for a no. It asks nothing.

    An idle connection is silent: bytes that wait are the news of its end, or of a changed setting, which is as rare.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if waiting.poll(0):
        connection.close()
        raise DatabaseUnavailable("the server has ended the connection")
