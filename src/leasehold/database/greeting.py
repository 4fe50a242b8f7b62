"""What a process asks of each new connection before it uses it."""

# asyncpg carries no types; what it returns is typed where it leaves this module.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, Protocol

from asyncpg import Record as Row

from leasehold.database.calls import Caller
from leasehold.database.translation import translated


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
