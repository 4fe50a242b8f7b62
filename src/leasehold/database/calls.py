"""How Python calls the SQL functions, what waits for the commit meanwhile, and how rows become records.

Functions are called by name, with bound values; no query is ever built.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Coroutine, Hashable, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property, wraps
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from uuid import UUID

import msgspec

from leasehold.database.signatures import Fit
from leasehold.drivers import DOCUMENTS, AnsweredRow, BlockingConnection, OfAsyncpg, Style, call_text
from leasehold.errors import BadInput, LeaseholdError, TransactionEnded

if TYPE_CHECKING:
    from asyncpg import Record as Row
    from asyncpg.pool import PoolConnectionProxy

    from leasehold.concurrency.asyncio_border import Driven

log = logging.getLogger(__name__)

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)
Method = TypeVar("Method", bound=Callable[..., Coroutine[Any, Any, Any]])
Flush = Callable[[list[Any]], object]
Mark = dict[Hashable, int]

STRANGER = (
    "the client was opened in another event loop than the one that runs now, and nothing was asked of the database; open a client"
    " in each event loop, or use leasehold.sync.Client, which threads share"
)

JSON_COLUMNS = frozenset(
    {"args", "result", "output", "error", "metadata", "detail", "facts", "counts", "declared"}
    | {"retry", "unique", "args_schema", "output_schema", "conflicts"}
)


def in_text(value: object) -> object:
    """Times and uuids as text; anything else as it is."""
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


class Caller(ABC):
    """Anything that can run a statement: a pool, a reserved connection, a transaction.

    Attributes:
        home: the loop of asyncio that the connections live on; None: nobody has opened them, or they are the caller's.
        border: how code under trio comes to that loop; None: nobody under trio has them.
        opened: how often a single connection was opened; 0 where it is not a single one.
    """

    home: asyncio.AbstractEventLoop | None = None
    border: Driven | None = None
    opened = 0

    @property
    def style(self) -> Style | None:
        """How a statement is written on a connection whose codecs are somebody else's; None: they are ours."""
        return None

    @property
    def is_at_home(self) -> bool:
        """Whether the caller may ask: it runs on the loop of the connections, or beside that under trio, in the same thread."""
        running = asyncio._get_running_loop()  # pyright: ignore[reportPrivateUsage]
        if running is None and self.border is not None:
            return self.border.is_here
        return self.home is None or running is self.home

    def refuse_stranger(self) -> None:
        """Raise BadInput in another event loop than that of the connections: an answer would never reach it."""
        if not self.is_at_home:
            raise self.stranger()

    def stranger(self) -> BadInput:
        """The error for a call from another event loop."""
        return BadInput(STRANGER)

    @cached_property
    def fit(self) -> Fit:
        """Which parameters the functions in the database have; those who share a pool share it."""
        return Fit()

    @abstractmethod
    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement and return its rows. `timeout` in seconds; the default is the database's."""

    async def call(self, function: str, *args: object, timeout: float | None = None, **named: object) -> list[Row]:
        """Call `leasehold.<function>` and return its rows.

        Raises the error of `leasehold.errors` that the function's SQLSTATE stands for, `DatabaseUnavailable` where trying
        again may help, `QueryRefused` otherwise.
        """
        if named and self.fit.concerns(function, named):
            named = await self.fit.suit(self.fetch, function, named)
        text = call_text(function, len(args), tuple(named), self.style)
        if self.style is None:
            return await self.fetch(text, *args, *named.values(), timeout=timeout)
        rows: list[Any] = await self.fetch(text, *map(in_text, args), *named.values(), timeout=timeout)
        if function in DOCUMENTS:
            rows = [read_document(row["document"]) for row in rows]
        return rows

    async def call_value(self, function: str, *args: object, timeout: float | None = None, **named: object) -> object:
        """Call `leasehold.<function>` and return the first column of its first row, None where there is no row."""
        rows = await self.call(function, *args, timeout=timeout, **named)
        return next(iter(rows[0].values())) if rows else None


def on_loop(*, shielded: bool = False) -> Callable[[Method], Method]:
    """Of a method that is written for asyncio: one that code under trio may await as well. There it crosses over to the loop
    that the connections live on, where cancelling ends what it has begun. Raises BadInput in any other event loop.

    Args:
        shielded: under trio it cannot be cancelled.
    """

    def make(method: Method) -> Method:
        @wraps(method)
        def run(self: Caller, /, *args: object, **named: object) -> Coroutine[Any, Any, object]:
            home = self.home
            if home is None or asyncio._get_running_loop() is home:  # pyright: ignore[reportPrivateUsage]
                return method(self, *args, **named)
            border = self.border
            if border is None or not self.is_at_home:
                raise self.stranger()
            return (border.finish if shielded else border.ask)(method, self, *args, **named)

        return cast("Method", run)

    return make


CallersConnection: TypeAlias = "Caller | OfAsyncpg | PoolConnectionProxy | BlockingConnection"
"""What type checkers accept as `connection=`: no pool and no engine."""


class OpenTransaction(Caller):
    """An open transaction, which its owner commits or rolls back.

    Attributes:
        hooks: what happens after the commit; the owner flushes them.
    """

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._savepoints = 0

    @abstractmethod
    async def execute(self, sql: str, *args: object, timeout: float | None = None) -> None:
        """Run one statement with values, or a script of any number of them without."""

    async def call_last(self, function: str, *args: object) -> object:
        """As `call_value`, before the commit. Raises TransactionEnded also where another transaction was begun after ours.

        Our transactions are marked DEFERRABLE: it has no effect on writes, and lets us recognise them.
        """
        call = call_text(function, len(args), style=self.style)
        text = f"select called.*, current_setting('transaction_deferrable') from ({call}) called"
        [row] = await self.fetch(text, *(args if self.style is None else map(in_text, args)))
        if row[-1] != "on":
            raise TransactionEnded
        return row[0]

    @asynccontextmanager
    async def savepoint(self) -> AsyncGenerator[None]:
        """A part of the transaction that is undone on its own, with what it put into `hooks`, when the block raises."""
        self._savepoints += 1
        name = f"leasehold_{self._savepoints}"
        mark = self.hooks.mark()
        await self.execute(f"savepoint {name}")
        try:
            yield
        except BaseException:
            self.hooks.roll_back(mark)
            with suppress(LeaseholdError):  # the transaction is lost as a whole, which its next statement will say
                await self._undo_to(name)
            raise
        await self.execute(f"release savepoint {name}")

    @abstractmethod
    async def _undo_to(self, savepoint: str) -> None:
        """Undo what came after this savepoint. Cannot be cancelled under trio."""


class Hooks:
    """Effects that wait for a commit, in one buffer for each key.

    After the commit the function of each key is called once, with all items of the key in order; it may be async, in the
    flavour of the owner. By then the commit cannot be undone, so what a function raises is logged and changes nothing.
    A process that dies between the commit and the flush flushes nothing: keep here what something else makes good, as
    polling does for wake-ups.
    """

    __slots__ = ("_buffers",)

    def __init__(self) -> None:
        self._buffers: dict[Hashable, tuple[Flush, list[Any]]] = {}

    def __len__(self) -> int:
        return sum(len(items) for _, items in self._buffers.values())

    def add(self, key: Hashable, item: T, flush: Callable[[list[T]], object], *, once: bool = False) -> None:
        """Have `flush` called with `item`, and whatever else is added under `key`, after the commit.

        Args:
            key: what belongs together; the function of its first item counts.
            flush: takes the items.
            once: an item equal to one that is there already adds nothing.
        """
        _, items = self._buffers.setdefault(key, (flush, []))
        if not (once and item in items):
            items.append(item)

    def after_commit(self, function: Callable[[], object]) -> None:
        """Have `function` called after the commit, after those given before."""
        self.add("after commit", function, _call_each)

    def mark(self) -> Mark:
        """Where all buffers stand now, for `roll_back`."""
        return {key: len(items) for key, (_, items) in self._buffers.items()}

    def roll_back(self, mark: Mark) -> None:
        """Forget what was added since `mark`: a savepoint was rolled back."""
        for key, (_, items) in list(self._buffers.items()):
            del items[mark.get(key, 0) :]
            if not items:
                del self._buffers[key]

    def discard(self) -> None:
        """Forget everything: the transaction was rolled back."""
        self._buffers.clear()

    async def flush(self) -> None:
        """Let everything out, key by key: the transaction was committed. Raises nothing but cancellation."""
        buffers, self._buffers = self._buffers, {}
        for key, (function, items) in buffers.items():
            try:
                left = function(items)
                if isawaitable(left):
                    await left
            except Exception:
                log.exception("an effect that waited for a commit failed: %s", key)


async def _call_each(functions: list[Callable[[], object]]) -> None:
    for function in functions:
        try:
            left = function()
            if isawaitable(left):
                await left
        except Exception:
            log.exception("a function that waited for a commit failed: %r", function)


def decode_json(text: str) -> Any:
    """What a jsonb column holds. Postgres keeps numbers of any size, Python reads those with some thousand digits as text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


def from_row(record: type[S], row: AnsweredRow) -> S:
    """A record from a row with a column for each field. One with a default may lack, as on the schema of a release before."""
    names = record.__struct_fields__
    try:
        return record(**decoded(row, names))
    except KeyError:
        there = set(row.keys())
        return record(**decoded(row, [name for name in names if name in there]))


def read_document(text: str) -> dict[str, Any]:
    """A row that came as one JSON object, as it comes otherwise: with JSON as text, and times in UTC."""
    row: dict[str, Any] = {}
    for name, piece in msgspec.json.decode(text, type=dict[str, msgspec.Raw]).items():
        if name in JSON_COLUMNS:
            row[name] = None if piece == b"null" else bytes(piece).decode()
        elif name.endswith("_at"):
            at = msgspec.json.decode(piece, type=datetime | None)
            row[name] = None if at is None else at.astimezone(UTC)
        else:
            row[name] = msgspec.json.decode(piece)
    return row


def decoded(row: AnsweredRow, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The columns of a row, all or these, with what is JSON in them decoded."""
    values: dict[str, Any] = {}
    for name in row.keys() if names is None else names:
        value = row[name]
        values[name] = decode_json(value) if name in JSON_COLUMNS and isinstance(value, str) else value
    return values
