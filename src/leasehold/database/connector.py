"""Connecting to Postgres, directly or through a pooler such as PgBouncer, and what goes wrong there in our words.

A pooler that lends a server connection per transaction takes three things away: what LISTEN asked for, everything that
belongs to a session, and, where it does not keep track of them, prepared statements. So the first connection to a place
finds out what stands there, and all further ones are opened to suit:

    none       Postgres itself answers. Statements are prepared once per connection.
    tracking   a pooler that knows prepared statements by names of its own. They are used as without it.
    blind      any other pooler. Nothing outlives its statement, which costs a second round trip each.
"""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Any, Protocol
from weakref import WeakSet

import asyncpg
from asyncpg import Record as Row
from asyncpg import connect_utils

from leasehold import errors
from leasehold.database.address import ReadAddress, read_address
from leasehold.database.calls import Caller
from leasehold.database.refusals import explained, refusal_of
from leasehold.errors import ListenerDeaf, WrongAddress, error_of_state

MISUSE = (
    "a connection runs one statement at a time, with as many values as it has parameters; await one after the other, or take"
    " a connection for each"
)

CLOSE_SECONDS = 2.0
TROUBLE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, TimeoutError)
"""What asyncpg raises on a connection that is of no more use; the third where Postgres ended it between two statements."""

KEEPALIVE = """
set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3; set tcp_user_timeout = 25000
"""
"""Has Postgres notice within 25 s that the machine at the other end is gone, instead of after two hours."""

CLEAN = "set session authorization default; discard temp; discard sequences;"
"""What asyncpg's `get_reset_query` leaves of what SQL may do to a session, but for statements that it prepared."""

DEALLOCATE = """
do $$ declare v_name text; begin
    for v_name in select name from pg_catalog.pg_prepared_statements where from_sql loop
        execute format('deallocate %I', v_name);
    end loop;
end $$;
"""
"""Takes back what SQL has prepared. The statements of asyncpg's cache stay."""

END_SESSION = "rollback; select pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid())"

OWN_ISOLATION = "set default_transaction_isolation = 'read committed'"
"""For what a process asks for itself: under a limit a claim has to see what others have just claimed, whatever the database's
default is. Transactions of handlers are as the database says."""

LOOK = """
select pg_backend_pid() as pid, exists (select from pg_prepared_statements where name = $1) as is_kept_as_named
"""

HEARING_SECONDS = 2.0

_opened: WeakSet[Any] = WeakSet()
_preparing: set[int] = set()


def watch_prepare(connection: Any, sql: str) -> None:
    """See whether the SQL may prepare a statement by name. To look for it in each reset would take Postgres 70 µs."""
    if "prepare" in sql.lower():
        _preparing.add(connection.get_server_pid())


def own_sessions() -> list[int]:
    """The sessions of Postgres that this process has, by the numbers that it was told."""
    return [each.get_server_pid() for each in list(_opened) if not each.is_closed()]


def _cut_off_copy() -> None:
    """In a copy of this process that somebody has forked: our connections are the original's alone."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for connection in list(_opened):
        with suppress(AttributeError, OSError, ValueError):  # of one that is closed
            os.dup2(nowhere, connection._transport.get_extra_info("socket").fileno())
    os.close(nowhere)


os.register_at_fork(after_in_child=_cut_off_copy)


def from_postgres(error: Any) -> errors.LeaseholdError:
    """The error of ours that says the same."""
    return error_of_state(
        error.sqlstate,
        str(error.args[0] if error.args else error),
        hint=getattr(error, "hint", None),
        detail=getattr(error, "detail", None),
        table=getattr(error, "table_name", None),
    )


@contextmanager
def translated(connection: Any = None) -> Generator[None]:
    """Raise our errors for those of asyncpg, of the socket and of the clock.

    Args:
        connection: which one is used, where only one is: what it refuses while it is open was asked wrongly.
    """
    try:
        yield
    except asyncpg.InvalidCachedStatementError as error:
        # Only inside a transaction, where asyncpg cannot prepare it again: a migration has just changed the answer.
        raise errors.DatabaseUnavailable(f"the schema changed under the transaction: {error}") from error
    except asyncpg.PostgresError as error:
        raise from_postgres(error) from error
    except (asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
        if isinstance(error, asyncpg.InterfaceError) and is_open(connection):
            raise errors.BadInput(f"{MISUSE}: {error}") from error
        raise errors.DatabaseUnavailable(f"the connection cannot be used: {error}") from error
    except OSError as error:
        if isinstance(error, TimeoutError):
            raise errors.NoAnswer("the database did not answer in time") from error
        raise errors.DatabaseUnavailable(f"the database cannot be reached: {error}") from error


@contextmanager
def left_when_read_only(connection: Any) -> Generator[None]:
    """Have the session ended if it may only read: one that began so stays so when the server can be written again."""
    try:
        yield
    except Exception as error:
        if isinstance(error, asyncpg.ReadOnlySQLTransactionError) or isinstance(
            error.__cause__, asyncpg.ReadOnlySQLTransactionError
        ):
            connection.leave()
        raise


def is_open(connection: Any) -> bool:
    """Whether this connection is there and may be of use."""
    with suppress(asyncpg.InterfaceError):  # of one that is back in its pool
        return connection is not None and not connection.is_closed()
    return False


class Greeter(Protocol):
    """Looks at each new connection of a database."""

    @property
    def generation(self) -> int:
        """Changes when connections that were greeted before must not be used any more. Read in any thread."""
        ...

    async def greet(self, connection: Caller) -> None:
        """Look at a new connection, under asyncio. What it raises keeps the connection from being used."""
        ...


class NewConnection(Caller):
    """A connection that nobody uses yet."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement."""
        with translated():
            return await self._connection.fetch(sql, *args, timeout=timeout)


class OwnConnection(asyncpg.Connection):
    """A connection of ours. Handlers see it as `tx.connection`, and may give it a codec, which lives as long as their attempt.

    Attributes:
        has_codecs: whether one did.
        is_left: whether its session is to end, and not only the way to it, which a pooler would lend to the next one.
    """

    has_codecs = is_left = False

    def leave(self) -> None:
        """Have it closed, and its session ended, when it is given back."""
        self.is_left = True

    async def set_type_codec(self, *names: Any, **options: Any) -> None:
        """As asyncpg, and remember it."""
        self.has_codecs = True
        await super().set_type_codec(*names, **options)

    async def set_builtin_type_codec(self, *names: Any, **options: Any) -> None:
        """As asyncpg, and remember it."""
        self.has_codecs = True
        await super().set_builtin_type_codec(*names, **options)


class Pooler(Enum):
    """What stands between us and Postgres."""

    NONE = "none"
    TRACKING = "tracking"
    BLIND = "blind"


class Connector:
    """Opens connections to one place. An empty dsn leaves host, user and the rest to the PG… variables.

    Attributes:
        pooler: what was found there; None before the first connection.
        greeter: looks at each new connection; None: nobody does.

    Args:
        dsn: of the place.
        timeout: of every await, in seconds.
        greeter: see above. Who has one is a process of ours, which asks for itself where there is no `keepalive`.
        keepalive: have Postgres look whether we are still there; a pooler has to do so by itself.
    """

    def __init__(self, dsn: str, timeout: float, *, greeter: Greeter | None = None, keepalive: bool = False) -> None:
        self.dsn = dsn
        self.greeter = greeter
        self.pooler: Pooler | None = None
        self._timeout = timeout
        self._session = KEEPALIVE if keepalive else OWN_ISOLATION if greeter is not None else ""
        self._untouched: set[int] = set()
        self._address: ReadAddress | None = None

    @property
    def generation(self) -> int:
        """Changes when connections made before must not be used any more."""
        return 0 if self.greeter is None else self.greeter.generation

    async def connect(self, application_name: str) -> Any:
        """One new connection that suits the place, and that the greeter has nothing against."""
        is_known = self.pooler is not None  # another connection may find it while this one is opened
        connection = await self._open(application_name)
        try:
            if not is_known:
                self.pooler = await find_pooler(connection)
            if not is_known and self.pooler is Pooler.BLIND:
                await close_connection(connection)
                connection = await self._open(application_name)
            if self._session and self.pooler is Pooler.NONE:
                await connection.execute(self._session)
            if self.greeter is not None:
                await self.greeter.greet(NewConnection(connection))
        except BaseException:
            await close_connection(connection)
            raise
        return connection

    async def _open(self, application_name: str) -> Any:
        # Without a cache asyncpg sends each statement whole, and keeps nothing at the server between two of them.
        suited: dict[str, Any] = {"statement_cache_size": 0} if self.pooler is Pooler.BLIND else {}
        address = self._address = self._address or read_address(self.dsn)
        failure: Exception | None = None
        for place in address.places:
            try:
                connection = await asyncpg.connect(
                    address.dsn or None,
                    timeout=address.seconds or self._timeout,  # pyright: ignore[reportArgumentType]  it takes floats
                    command_timeout=self._timeout,
                    server_settings={"application_name": application_name},
                    connection_class=OwnConnection,
                    **suited,
                    **place,
                )
                _opened.add(connection)
                return connection
            except asyncpg.PostgresError as error:
                refusal = refusal_of(error)
                if isinstance(refusal, WrongAddress):
                    raise refusal from error
                refusal.__cause__ = error  # which has the SQLSTATE
                failure = failure or refusal
            except (asyncpg.InternalClientError, OSError) as error:
                failure = failure or error
            except (ValueError, LookupError) as error:  # of asyncpg, and of the encoding of host names
                raise WrongAddress(f"the address of the database is wrong: {error}") from error
            except asyncpg.InterfaceError as error:
                failure = failure or error
        assert failure is not None
        raise await explained(failure, address)

    def spare_reset(self, connection: Any) -> None:
        """Say that the session is as it was, so that giving the connection back takes no statement this time."""
        self._untouched.add(connection.get_server_pid())

    async def reset(self, connection: Any) -> None:
        """Undo what a user of a pooled connection has done to its session. A pooler that lends out sessions for one transaction
        each may choose another one for this."""
        if connection.has_codecs or connection.is_left:
            await close_connection(connection)
            return
        pid = connection.get_server_pid()
        if pid in self._untouched:
            self._untouched.discard(pid)
            return
        prepared = DEALLOCATE if pid in _preparing else ""
        _preparing.discard(pid)
        own = self._session if self.pooler is Pooler.NONE else settings_of(connection)
        await connection.execute(f"{connection.get_reset_query()}{CLEAN}{prepared}{own}")


def settings_of(connection: Any) -> str:
    """The statements that set again what the connection began with: behind a pooler the session itself began without."""
    settings = {"client_encoding": "utf-8", **(connection._params.server_settings or {})}
    quoted = {name: str(value).replace("'", "''") for name, value in settings.items()}
    return "".join(f"select pg_catalog.set_config('{name}', '{value}', false);" for name, value in quoted.items())


async def find_pooler(connection: Any) -> Pooler:
    """What a new connection leads through.

    A pooler answers a connection with a process id of its own making, and one that keeps track of prepared statements
    renames them. All of it happens in one transaction, so that it is one server connection that is looked at.
    """
    name = f"leasehold_{secrets.token_hex(8)}"
    async with connection.transaction():
        statement = await connection.prepare(LOOK, name=name)
        found = await statement.fetchrow(name)
        if found["pid"] == connection.get_server_pid():
            return Pooler.NONE
        if not found["is_kept_as_named"]:
            return Pooler.TRACKING
        await connection.execute(f"deallocate {name}")
        return Pooler.BLIND


def canceller_of(connection: Any) -> Callable[[], Awaitable[None]]:
    """Asks Postgres to end the statement of a connection that nobody uses again, even when it is closed.

    asyncpg asks once. Postgres ignores a request that overtakes its statement, and does not see that a connection is closed
    before that has ended: the statement would go on, with its locks.
    """
    held = getattr(connection, "_con", connection)  # a pool lends proxies
    protocol = held and held._protocol
    pid, secret = (protocol.backend_pid, protocol.backend_secret) if protocol else (None, None)
    cancel: Any = connect_utils._cancel  # pyright: ignore[reportPrivateUsage]

    async def cancel_again() -> None:
        if pid is not None:
            loop = asyncio.get_running_loop()
            asked = cancel(loop=loop, addr=held._addr, params=held._params, backend_pid=pid, backend_secret=secret)
            with suppress(*TROUBLE):
                await asyncio.wait_for(asked, CLOSE_SECONDS)

    return cancel_again


async def close_connection(connection: Any) -> None:
    """Close politely, and by force when that takes too long or fails. A statement that runs is cancelled, if need be twice."""
    cancel_again = canceller_of(connection)
    if connection.is_left:
        with suppress(*TROUBLE):
            await connection.execute(END_SESSION, timeout=CLOSE_SECONDS)
    try:
        await connection.close(timeout=CLOSE_SECONDS)
    except TimeoutError:
        await cancel_again()
    except TROUBLE:
        pass
    if not connection.is_closed():
        connection.terminate()


async def prove_hearing(connection: Any, other: Caller) -> None:
    """Have `other` say something that `connection` listens for. Raises ListenerDeaf when it does not come.

    What the connection says itself proves nothing: the pooler may just then have lent it the very server connection that listens.
    """
    channel = f"leasehold_{secrets.token_hex(8)}"
    received = asyncio.Event()

    def receive(*_notification: object) -> None:
        received.set()

    await connection.add_listener(channel, receive)
    try:
        await other.fetch("select pg_notify($1, '')", channel)
        await asyncio.wait_for(received.wait(), HEARING_SECONDS)
    except TimeoutError:
        raise ListenerDeaf from None
    finally:
        await connection.remove_listener(channel, receive)
