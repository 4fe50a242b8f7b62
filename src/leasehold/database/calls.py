"""How Python calls the SQL functions: by name, with bound values, never by building a query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING

from leasehold.database.fit import Fit
from leasehold.database.hooks import Hooks
from leasehold.drivers.statements import Style, call_text
from leasehold.errors import LeaseholdError, TransactionEnded

if TYPE_CHECKING:
    from asyncpg import Record as Row


class Caller(ABC):
    """Anything that can run a statement: a pool, a reserved connection, a transaction, of either flavour."""

    style: Style | None = None
    """How a statement is written on a connection of somebody else's; None: it is ours."""

    @property
    def opened(self) -> int:
        """How often a single connection was opened; 0 where it is not a single one."""
        return 0

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
            named = await self.fit.suit(self, function, named)
        text = call_text(function, len(args), tuple(named), self.style)
        return await self.fetch(text, *args, *named.values(), timeout=timeout)

    async def call_value(self, function: str, *args: object, timeout: float | None = None, **named: object) -> object:
        """Call `leasehold.<function>` and return the first column of its first row, None where there is no row."""
        rows = await self.call(function, *args, timeout=timeout, **named)
        return next(iter(rows[0].values())) if rows else None


class OpenTransaction(Caller):
    """An open transaction of either flavour, which its owner commits or rolls back.

    Attributes:
        hooks: what happens after the commit; the owner flushes them.
        flushes: whether we are the owner. On a connection of the caller's nobody flushes.
    """

    flushes = True

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._savepoints = 0

    @abstractmethod
    async def execute(self, sql: str, *args: object, timeout: float | None = None) -> None:
        """Run one statement with values, or a script of any number of them without."""

    async def call_last(self, function: str, *args: object) -> object:
        """As `call_value`, before the commit. Raises TransactionEnded also where another transaction was begun after ours.

        Ours are DEFERRABLE, which costs nothing, means nothing in those that write, and which no other one is.
        """
        text = (
            f"select called.*, current_setting('transaction_deferrable') from ({call_text(function, len(args))}) called"
        )
        [row] = await self.fetch(text, *args)
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
                await self._shielded(lambda: self.execute(f"rollback to savepoint {name}; release savepoint {name}"))
            raise
        await self.execute(f"release savepoint {name}")

    async def _shielded(self, action: Callable[[], Awaitable[None]]) -> None:
        await action()
