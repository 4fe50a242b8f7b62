"""A connection of the caller's that is of another library than asyncpg."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import Any

from leasehold.database import Caller, Row
from leasehold.drivers.adapter import Adapter


class DriverTransaction(Caller):
    """The transaction of the caller, on their connection. One that blocks does so here as with any other statement on it."""

    def __init__(self, connection: Any, adapter: Adapter) -> None:
        self.style = adapter.style
        self._connection = connection
        self._adapter = adapter

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement, written in the style of the driver. `timeout` is for those that are awaited."""
        rows: Any = self._adapter.fetch(self._connection, sql, args)
        if not isawaitable(rows):
            return rows
        async with asyncio.timeout(timeout):
            return await rows
