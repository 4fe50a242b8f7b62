"""Changes: what happens to jobs and workers, as it happens or afterwards."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime

from leasehold.client.core import Part
from leasehold.client.feed.changes import Change
from leasehold.client.feed.feed import Feed, replay
from leasehold.client.feed.news import News
from leasehold.database import Caller


class Changes(Part):
    """`client.changes`: what the whole service does; `client.subscribe` hears only what this process does."""

    def follow(self, caller: Caller | None = None) -> Feed:
        """Return a reader of what happens from its first read on.

        Example:
            feed = client.changes.follow()
            while True:
                for change in await feed.read():
                    print(change.event, change.job_id)
                await asyncio.sleep(1)

        Args:
            caller: a connection for this reader alone; None: one of the pool for each read.
        """
        return Feed(caller or self._database)

    def news(self, caller: Caller | None = None) -> News:
        """Return a reader of what `follow` leaves out: log lines and progress of some jobs, and what becomes of schedules.

        Args:
            caller: as in `follow`.
        """
        return News(caller or self._database)

    async def replay(
        self, since: datetime, until: datetime | None = None, caller: Caller | None = None
    ) -> AsyncGenerator[list[Change]]:
        """Tell what happened between two moments, a page at a time: ends of jobs, and what their timelines keep.

        Args:
            since: from then on.
            until: before then; None: up to now.
            caller: as in `follow`.
        """
        async for page in replay(caller or self._database, since, until):
            yield page
