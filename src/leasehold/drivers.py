"""Connections of the caller's, of any library: how a call of ours is written for it, run on it, and told when it fails.

Enter: a connection that a caller gave as `connection=`. Leave: rows, or errors of `leasehold.errors`. Nothing here imports a
driver: a connection is known by the module of its class, and its library is loaded by then. `find_adapter` says which adapter takes
which connection. The clients come in here, of both kinds.
"""

# psycopg and SQLAlchemy are loaded by whoever has a connection of them: nothing of them is known to the type checker here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

from leasehold.errors import BadInput, DatabaseUnavailable, LeaseholdError, NoTransaction, error_of_state

Style = Literal["numeric_dollar", "format", "pyformat", "named", "numeric", "qmark"]
"""How a driver writes a place for a value: `$1`, `%s`, `%(p1)s`, `:p1`, `:1`, `?`. The names are those of DB-API, and asyncpg's."""
STYLES: tuple[str, ...] = get_args(Style)

Parameters: TypeAlias = "tuple[Any, ...] | dict[str, Any]"

TEXT_PLACES: dict[str, dict[int, str]] = {
    "enqueue_jobs": {1: "jsonb"},
    "enqueue_with_times": {1: "jsonb"},
    "complete_chain": {2: "jsonb", 3: "jsonb"},
    "edit_job": {2: "jsonb", 5: "timestamptz", 7: "jsonb"},
    "add_payload": {2: "timestamptz", 12: "jsonb"},
    "assert_lease": {3: "uuid"},
    "complete_job": {3: "uuid", 4: "jsonb", 5: "jsonb"},
    "report_progress": {1: "uuid"},
}
"""Which values of a function go as text on connections of callers, and their type. They may have told their driver to encode
JSON or times itself, and what is encoded already must not be encoded again."""

DOCUMENTS = frozenset({"lock_job", "name_payload", "add_payload", "get_job_blockers"})
"""Functions that answer with JSON or times. On connections of callers each row is one text, so no codec of theirs reads it."""

_PLACES: dict[Style, Callable[[int], str]] = {
    "numeric_dollar": "${}".format,
    "format": "%s".format,
    "pyformat": "%(p{})s".format,
    "named": ":p{}".format,
    "numeric": ":{}".format,
    "qmark": "?".format,
}

CONNECTION_LOST = frozenset({"OperationalError", "InterfaceError"})
"""What DB-API calls an error of the connection; it has no SQLSTATE when the server did not say it."""

POSTGRES = "postgresql"

IDLE = 0  # of psycopg.pq.TransactionStatus
NO_PIPELINE = 0  # of psycopg.pq.PipelineStatus


@lru_cache(maxsize=512)
def call_text(function: str, positional: int, named: tuple[str, ...] = (), style: Style | None = None) -> str:
    """The statement that calls `leasehold.<function>` with this number of positional values and these named ones.

    Args:
        style: of the caller's driver; None: a connection of ours, which encodes and decodes nothing itself.
    """
    if not all(name.isidentifier() for name in (function, *named)):
        raise ValueError(f"no SQL name: {function!r} {named!r}")
    place = _PLACES[style or "numeric_dollar"]
    as_text = {} if style is None else TEXT_PLACES.get(function, {})
    values = [
        f"cast(cast({place(n)} as text) as {as_text[n]})" if n in as_text else place(n)
        for n in range(1, positional + 1)
    ]
    values += [f"{name} => {place(n)}" for n, name in enumerate(named, positional + 1)]
    call = f"leasehold.{function}({', '.join(values)})"
    if style is None or function not in DOCUMENTS:
        return f"select * from {call}"
    return f"select cast(to_jsonb(called) as text) as document from {call} called"


def parameters(values: Sequence[Any], style: Style) -> Parameters:
    """The values as they go with a text of this style: a dict where places have names, else a tuple."""
    if style in ("pyformat", "named"):
        return {f"p{n}": value for n, value in enumerate(values, 1)}
    return tuple(values)


@contextmanager
def raising_ours() -> Generator[None]:
    """Raise our errors for those that Postgres or the way to it has raised in the block, whatever library brought them.

    What has no SQLSTATE is the library's own word, and passes as it is.
    """
    try:
        yield
    except LeaseholdError:
        raise
    except Exception as error:
        ours = error_of_driver(error)
        if ours is None:
            raise
        raise ours from error


def error_of_driver(error: Exception) -> LeaseholdError | None:
    """The error of ours that says the same; None where neither Postgres nor the connection is to blame."""
    for each in _wrapped(error):
        state = getattr(each, "sqlstate", None) or getattr(each, "pgcode", None)
        if isinstance(state, str):
            return _of_answer(each, state)
    innermost = [*_wrapped(error)][-1]
    names = {each.__name__ for each in type(innermost).__mro__}
    if isinstance(innermost, OSError) or not names.isdisjoint(CONNECTION_LOST):
        return DatabaseUnavailable(f"the connection cannot be used: {innermost}")
    return None


def _wrapped(error: BaseException) -> Iterator[BaseException]:
    """The error and what lies in it: SQLAlchemy keeps that of the driver as `orig`, Django as its cause."""
    seen: set[int] = set()
    inner: BaseException | None = error
    while inner is not None and id(inner) not in seen:
        seen.add(id(inner))
        yield inner
        inner = getattr(inner, "orig", None) or inner.__cause__


def _of_answer(error: BaseException, state: str) -> LeaseholdError:
    """From the fields of the answer: psycopg has them in `diag`; asyncpg on the error, which SQLAlchemy keeps as the cause."""
    source: Any = next(
        (each for each in _wrapped(error) if hasattr(each, "detail") and hasattr(each, "table_name")), error
    )
    diag: Any = getattr(error, "diag", None)
    if diag is not None:
        return error_of_state(
            state,
            diag.message_primary or str(error),
            hint=diag.message_hint,
            detail=diag.message_detail,
            table=diag.table_name,
        )
    return error_of_state(
        state,
        str(source.args[0] if source.args else source),
        hint=getattr(source, "hint", None),
        detail=getattr(source, "detail", None),
        table=getattr(source, "table_name", None),
    )


class OfAsyncpg(Protocol):
    """A connection of asyncpg. Its pool has none of these names, nor have the others' pools and engines."""

    def is_in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...


class OfPsycopg(Protocol):
    """A `Connection` or `AsyncConnection` of psycopg 3."""

    pgconn: Any


class OfSqlalchemy(Protocol):
    """A `Connection`, `Session`, `AsyncConnection` or `AsyncSession` of SQLAlchemy, or a scoped session."""

    def begin_nested(self) -> Any:
        """A savepoint."""
        ...


class OfDjango(Protocol):
    """A connection of Django, as in `connections["default"]`."""

    def get_autocommit(self) -> Any:
        """Whether each statement commits by itself."""
        ...


class ProxyOfDjango(Protocol):
    """`django.db.connection`: it says nothing of what it passes on but this."""

    def __contains__(self, key: Any, /) -> bool: ...


BlockingConnection: TypeAlias = "OfPsycopg | OfSqlalchemy | OfDjango | ProxyOfDjango"
"""What type checkers accept as `connection=`. The names tell a connection from a pool; `find_adapter` has the last word."""


class AnsweredRow(Protocol):
    """A row, by the names of its columns: a dict, or one of asyncpg. JSON in it is text, or decoded where a library insists."""

    def __getitem__(self, name: str, /) -> Any: ...
    def keys(self) -> Iterable[str]:
        """The names."""
        ...

    def values(self) -> Iterable[Any]:
        """The values, in the order of the names."""
        ...


class Adapter(NamedTuple):
    """One library.

    Attributes:
        style: how it writes places for values.
        fetch: takes the connection, a text of this style and the values. It runs them as one statement in the transaction of
            the caller, and answers with rows; it raises NoTransaction where every statement commits by itself, and our errors
            for those of Postgres.
        awaits: whether the answer of `fetch` is awaited, under asyncio.
    """

    style: Style
    fetch: Callable[[Any, str, Sequence[Any]], Any]
    awaits: bool = False


def fetch_django(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement in the `atomic` block that is open. Without one Django commits each statement by itself."""
    with raising_ours():
        if connection.vendor == POSTGRES and connection.get_autocommit():
            raise NoTransaction
        return fetch_django_alone(connection, text, values)


def fetch_django_alone(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement, in a transaction or not."""
    if connection.vendor != POSTGRES:
        raise BadInput(f"jobs live in Postgres; this connection of Django leads to {connection.vendor}")
    with raising_ours(), connection.cursor() as cursor:
        cursor.execute(text, tuple(values))
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


DJANGO = Adapter("format", fetch_django)


def fetch_psycopg(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement in the transaction of this connection, which psycopg begins by itself unless it commits by itself."""
    refuse_idle(connection)
    with raising_ours():
        return fetch_psycopg_alone(connection, text, values)


def fetch_psycopg_alone(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement, in a transaction or not. Raises what psycopg raises.

    Rows come as dicts whatever row factory the connection has, with JSON as text and times in UTC.
    """
    psycopg: Any = import_module("psycopg")
    with psycopg.Cursor(connection, row_factory=psycopg.rows.dict_row) as cursor:
        _plain_values(cursor)
        return cursor.execute(text, tuple(values)).fetchall()


async def fetch_psycopg_async(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch_psycopg`, on an `AsyncConnection`."""
    refuse_idle(connection)
    psycopg: Any = import_module("psycopg")
    with raising_ours():
        async with psycopg.AsyncCursor(connection, row_factory=psycopg.rows.dict_row) as cursor:
            _plain_values(cursor)
            await cursor.execute(text, tuple(values))
            return await cursor.fetchall()


def refuse_idle(connection: Any) -> None:
    """Raise NoTransaction where the statement would commit by itself. In a pipeline nobody knows before it ends."""
    is_alone = connection.autocommit and connection.pgconn.transaction_status == IDLE
    if is_alone and not connection.closed and connection.pgconn.pipeline_status == NO_PIPELINE:
        raise NoTransaction


def _plain_values(cursor: Any) -> None:
    utc_loader, text_loader = _loaders()
    cursor.adapters.register_loader("timestamptz", utc_loader)
    for name in ("json", "jsonb"):
        cursor.adapters.register_loader(name, text_loader)


@cache
def _loaders() -> tuple[type, type]:
    """Of times and of JSON."""
    own: Any = import_module("psycopg.types.datetime").TimestamptzLoader

    class UtcLoader(own):
        """Times in UTC, whatever the session's time zone is."""

        def load(self, data: Any) -> datetime:
            """From what Postgres sends."""
            return super().load(data).astimezone(UTC)

    return UtcLoader, import_module("psycopg.types.string").TextLoader


PSYCOPG = Adapter("format", fetch_psycopg)
PSYCOPG_ASYNC = Adapter("format", fetch_psycopg_async, awaits=True)


def fetch_sqlalchemy(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """Run one statement on a `Connection`, in the transaction that SQLAlchemy has begun or begins now."""
    if connection.dialect.name != "postgresql":
        raise BadInput(f"jobs live in Postgres; this connection of SQLAlchemy leads to {connection.dialect.name}")
    with raising_ours():
        if getattr(connection.connection.dbapi_connection, "autocommit", False) is True:
            raise NoTransaction
        made: Any = import_module("sqlalchemy").text(text)
        return [dict(row) for row in connection.execute(made, parameters(values, "named")).mappings()]


def fetch_of_session(session: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch_sqlalchemy`, on the connection of a `Session`. Nothing is flushed."""
    return fetch_sqlalchemy(session.connection(), text, values)


async def fetch_sqlalchemy_async(connection: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch_sqlalchemy`, on an `AsyncConnection`."""
    return await connection.run_sync(fetch_sqlalchemy, text, values)


async def fetch_of_async_session(session: Any, text: str, values: Sequence[Any]) -> list[AnsweredRow]:
    """As `fetch_sqlalchemy`, on the connection of an `AsyncSession`. Nothing is flushed."""
    return await fetch_sqlalchemy_async(await session.connection(), text, values)


SQLALCHEMY = Adapter("named", fetch_sqlalchemy)
SQLALCHEMY_SESSION = Adapter("named", fetch_of_session)
SQLALCHEMY_ASYNC = Adapter("named", fetch_sqlalchemy_async, awaits=True)
SQLALCHEMY_ASYNC_SESSION = Adapter("named", fetch_of_async_session, awaits=True)

ADAPTERS: dict[tuple[str, str], Adapter] = {
    ("psycopg", "Connection"): PSYCOPG,
    ("psycopg", "AsyncConnection"): PSYCOPG_ASYNC,
    ("sqlalchemy", "Connection"): SQLALCHEMY,
    ("sqlalchemy", "Session"): SQLALCHEMY_SESSION,
    ("sqlalchemy", "scoped_session"): SQLALCHEMY_SESSION,
    ("sqlalchemy", "AsyncConnection"): SQLALCHEMY_ASYNC,
    ("sqlalchemy", "AsyncSession"): SQLALCHEMY_ASYNC_SESSION,
    ("sqlalchemy", "async_scoped_session"): SQLALCHEMY_ASYNC_SESSION,
    ("django", "BaseDatabaseWrapper"): DJANGO,
    ("django", "ConnectionProxy"): DJANGO,
}
"""By the library and the class; subclasses count."""


def find_adapter(connection: Any) -> Adapter | None:
    """The adapter for a connection; None for one of asyncpg, and for what is none."""
    for each in type(connection).__mro__:
        found = ADAPTERS.get((each.__module__.partition(".")[0], each.__name__))
        if found is not None:
            return found
    return None


def refused_connection(connection: Any) -> BadInput:
    """The error for what is no connection that we know."""
    if callable(getattr(connection, "acquire", None)) or callable(getattr(connection, "getconn", None)):
        what = f"{class_name(connection)} is a pool: the transaction is on one of its connections"
        return BadInput(f"{what}; take one out of it, begin a transaction on it, and pass that connection")
    return BadInput(
        "connection must be of asyncpg, psycopg 3, SQLAlchemy or Django, or a transaction of leasehold, not"
        f" {class_name(connection)}; with any other library run the statement of leasehold.enqueue_statement(job)"
    )


def class_name(connection: object) -> str:
    """Of what it is, for messages."""
    made = type(connection)
    return f"{made.__module__}.{made.__name__}"
