"""Transactions, and what waits for their commit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from leasehold.client.core import Part
from leasehold.database import OpenTransaction
from leasehold.database.calls import Hooks
from leasehold.errors import BadInput


class Transactions(Part):
    """The part of `Client` that puts jobs and rows of yours into one commit."""

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[OpenTransaction]:
        """Open a transaction on the client's pool: it commits with the block, or rolls back when the block raises.

        Workers are woken and events are told after the commit; without a commit, they are not. `tx.savepoint()` undoes a part.

        Example:
            async with client.transaction() as tx:
                await tx.execute("insert into orders values ($1)", 42)
                await client.enqueue(ship.new(order=42), connection=tx)

        Raises:
            BadInput: the client does not call the database over a pool.
            DatabaseUnavailable: also on the commit; nobody knows then whether it took place.
        """
        database: Any = self._database
        if not hasattr(database, "transaction"):
            raise BadInput(f"only a client of open_client has transactions, not one that calls over {database!r}")
        async with database.transaction() as transaction:
            yield transaction

    @asynccontextmanager
    async def hooks(self) -> AsyncGenerator[Hooks]:
        """Collect what must wait for the commit of your own connection, and do it when the block ends.

        `enqueue(..., hooks=hooks)` puts off waking workers and telling events. A block that raises drops both. To choose
        the moment, call `await hooks.flush()` or `hooks.discard()` inside the block.

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
