"""Transactions on a connection of the pool, and how such a connection goes back."""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from asyncpg import Record as Row

from leasehold.database.calls import OpenTransaction, on_loop
from leasehold.database.connector import (
    CLOSE_SECONDS,
    TROUBLE,
    canceller_of,
    is_open,
    left_when_read_only,
    translated,
    watch_prepare,
)
from leasehold.drivers import Style
from leasehold.errors import LeaseholdError, TransactionEnded

log = logging.getLogger(__name__)

MOST_SQL = 100


class Transaction(OpenTransaction):
    """A transaction on a connection of the pool, which goes back when the transaction ends. From `Database.begin`.

    Nobody else may end it: once SQL of the caller has ended it, every statement raises TransactionEnded.

    Attributes:
        connection: that of asyncpg.
        was_cut: whether it broke before the transaction ended.
    """

    def __init__(self, connection: Any, transaction: Any, pool: Any) -> None:
        super().__init__()
        self.connection = connection
        self._transaction = transaction
        self._pool = pool
        self._is_committing = False
        self._is_logged = False
        self._has_failed = False
        self.was_cut = False

    @property
    def style(self) -> Style | None:
        """As on a connection of the caller's, once a handler has given this one a codec."""
        return "numeric_dollar" if getattr(self.connection, "has_codecs", False) else None

    @on_loop()
    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement inside the transaction."""
        with self._watched(sql):
            return await self.connection.fetch(sql, *args, timeout=timeout)

    @on_loop()
    async def execute(self, sql: str, *args: object, timeout: float | None = None) -> None:
        """Run one statement with values, or a script without, inside the transaction."""
        with self._watched(sql):
            await self.connection.execute(sql, *args, timeout=timeout)

    @on_loop(shielded=True)
    async def _undo_to(self, savepoint: str) -> None:
        """Undo what came after this savepoint. Cannot be cancelled under trio."""
        await self.execute(f"rollback to savepoint {savepoint}; release savepoint {savepoint}", timeout=CLOSE_SECONDS)

    async def commit(self) -> None:
        """Commit. Raises DatabaseUnavailable where it is not known whether the commit took place; TransactionEnded, and
        QueryRefused where a statement has failed and nothing undid it: Postgres would roll back and say nothing.
        """
        try:
            await self._commit()
        except BaseException:
            await self.roll_back()
            raise

    @on_loop()
    async def _commit(self) -> None:
        self._check()
        if self._has_failed:
            await self.fetch("select 1")
        self._is_committing = True
        try:
            with translated():
                await self._transaction.commit()
        except BaseException:
            await discard(self._pool, self.connection)
            raise
        await release(self._pool, self.connection)

    @on_loop(shielded=True)
    async def roll_back(self) -> None:
        """Undo everything; a connection that does not answer is thrown away, which undoes it as well.

        Does nothing where a commit has begun: that gives the connection back, whatever becomes of it.
        """
        if self._is_committing:
            return
        if not self._is_logged and _is_over(self.connection):
            log.error("%s", TransactionEnded())
        try:
            await asyncio.wait_for(self._transaction.rollback(), CLOSE_SECONDS)
        except TROUBLE as error:
            self.was_cut = isinstance(error, TimeoutError) or not is_open(self.connection)
            if isinstance(error, TimeoutError):
                await canceller_of(self.connection)()
            await discard(self._pool, self.connection)
        except BaseException:
            await discard(self._pool, self.connection)
            raise
        else:
            await release(self._pool, self.connection)

    @contextmanager
    def _watched(self, sql: str) -> Generator[None]:
        self._check()
        watch_prepare(self.connection, sql)
        try:
            with translated(self.connection), left_when_read_only(self.connection):
                yield
        except LeaseholdError:
            self._has_failed = True
            self._check(sql)
            raise
        self._check(sql)

    def _check(self, sql: str | None = None) -> None:
        """Raise TransactionEnded if it has; asyncpg knows, so nothing is asked of the database."""
        if _is_over(self.connection):
            self._is_logged = True
            culprit = "" if sql is None else f" The statement: {' '.join(sql.split()):.{MOST_SQL}}"
            raise TransactionEnded(f"{TransactionEnded()}{culprit}")


def _is_over(connection: Any) -> bool:
    """Whether a connection that was in a transaction is in none. Not of one that is closed: nobody knows."""
    with suppress(*TROUBLE):
        return not connection.is_closed() and not connection.is_in_transaction()
    return False


async def discard(pool: Any, connection: Any) -> None:
    """Close a connection that may still be in a transaction; closing it rolls that back."""
    with suppress(*TROUBLE):
        connection.terminate()
    await release(pool, connection)


async def release(pool: Any, connection: Any) -> None:
    """Give a connection back to its pool; one that is broken is closed.

    Goes on where the caller is cancelled, and then nobody waits for its trouble: so it is swallowed in there.
    """
    await asyncio.shield(asyncio.ensure_future(_give_back(pool, connection)))


async def _give_back(pool: Any, connection: Any) -> None:
    cancel_again = canceller_of(connection)
    try:
        await pool.release(connection, timeout=CLOSE_SECONDS)
    except TimeoutError:
        await cancel_again()
    except TROUBLE:
        pass
