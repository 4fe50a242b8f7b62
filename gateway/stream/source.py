"""The source of the stream's changes: the database, over connections that are open only while they are used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from leasehold.client.feed.changes import Change
from leasehold.client.nouns.changes import Changes
from leasehold.database import AsyncioDatabase
from leasehold.gateway.stream.hub import Feeder, NewsReader
from leasehold.notify.asyncio_listener import AsyncioListener


class DatabaseSource:
    """The database of a client, over one connection for the reader, one for replays, and one that listens.

    Args:
        listens: whether to open the last of these.
    """

    def __init__(self, database: AsyncioDatabase, changes: Changes, *, listens: bool) -> None:
        self._database = database
        self._changes = changes
        self._listens = listens
        self._turn = asyncio.Semaphore(1)

    @asynccontextmanager
    async def open(
        self, hear: Callable[[str], object], missed: Callable[[], object]
    ) -> AsyncGenerator[tuple[Feeder, NewsReader]]:
        """A feed and its news on a connection of their own, closed with the block."""
        reserved = self._database.reserve("stream")
        ear = AsyncioListener(self._database, hear, missed)
        if self._listens:
            ear.open()
        try:
            yield self._changes.follow(reserved), self._changes.news(reserved)
        finally:
            await ear.close()
            await reserved.close()

    async def replay(self, since: datetime, until: datetime | None) -> AsyncGenerator[list[Change]]:
        """The changes between two instants. Replays run one at a time, however many clients reconnect at once."""
        async with self._turn:
            reserved = self._database.reserve("stream replay")
            try:
                async for page in self._changes.replay(since, until, reserved):
                    yield page
            finally:
                await reserved.close()
