"""Following what happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime

from leasehold.client.feed.changes import Change
from leasehold.client.feed.feed import Feed, replay
from leasehold.client.section import Section
from leasehold.database import Caller


class Changes(Section):
    """The section of the client that follows."""

    def feed(self, caller: Caller | None = None) -> Feed:
        """A reader of what happens from its first look on. `caller`: a connection for it alone, else one of the pool."""
        return Feed(caller or self._database)

    async def changes(
        self, since: datetime, until: datetime | None = None, caller: Caller | None = None
    ) -> AsyncGenerator[list[Change]]:
        """What happened between two moments, a page at a time: ends of jobs, and what their timelines keep."""
        async for page in replay(caller or self._database, since, until):
            yield page
