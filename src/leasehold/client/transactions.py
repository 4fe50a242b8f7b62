"""Transactions, and what waits for their commit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from leasehold.client.section import Section
from leasehold.database import OpenTransaction
from leasehold.database.hooks import Hooks
from leasehold.errors import BadInput


class Transactions(Section):
    """The section of the client for whoever wants jobs and rows of their own in one commit."""

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[OpenTransaction]:
        """A transaction of your own on the client's pool: it commits with the block, or rolls back when the block raises.

        Workers are woken and events are told after the commit, and not at all without one; `tx.savepoint()` undoes a part.

        Example:
            async with client.transaction() as tx:
                await tx.execute("insert into orders values ($1)", 42)
                await client.enqueue(ship.new(order=42), connection=tx)

        Raises:
            BadInput: the client calls the database some other way than over a pool. DatabaseUnavailable: on the commit,
                where it is not known whether it took place.
        """
        database: Any = self._database
        if not hasattr(database, "transaction"):
            raise BadInput(f"only a client of open_client has transactions, not one that calls over {database!r}")
        async with database.transaction() as transaction:
            yield transaction

    @asynccontextmanager
    async def hooks(self) -> AsyncGenerator[Hooks]:
        """For a transaction on a connection of yours: what `enqueue(..., hooks=hooks)` put off happens when the block ends,
        and is forgotten when the block raises. Or say `await hooks.flush()` and `hooks.discard()` yourself.

        Example:
            async with client.hooks() as hooks, connection.transaction():
                await client.enqueue(ship.new(order=42), connection=connection, hooks=hooks)
        """
        hooks = Hooks()
        try:
            yield hooks
        except BaseException:
            hooks.discard()
            raise
        await hooks.flush()
