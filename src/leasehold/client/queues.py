"""Queues, and the service as a whole."""

from __future__ import annotations

from datetime import timedelta

from leasehold.client.section import Section
from leasehold.database.rows import from_row
from leasehold.records.queues import QueueRecord


class Queues(Section):
    """The section of the client for whoever operates queues."""

    async def queues(self) -> list[QueueRecord]:
        """The queues that anybody knows of: with jobs, workers, limits, or paused."""
        return [from_row(QueueRecord, row) for row in await self._database.call("list_queues")]

    async def pause(self, queue: str, reason: str | None = None) -> bool:
        """Claim nothing more from a queue; returns whether this changed anything. Raises BadInput."""
        return bool(await self._database.call_value("pause_queue", queue, reason))

    async def resume(self, queue: str) -> bool:
        """Claim from a paused queue again; returns whether this changed anything."""
        return bool(await self._database.call_value("resume_queue", queue))

    async def set_ageing(self, queue: str, every: timedelta | None) -> bool:
        """Have pending jobs of a queue gain one priority for each `every` that they have waited; None: no more.

        Never beyond the highest priority that is pending there: a job that got so far is the oldest, and next. Returns
        whether this changed anything. Raises BadInput.
        """
        return bool(await self._database.call_value("set_ageing", queue, every))

    async def recover_stale(self, minutes: float) -> int:
        """Take back jobs whose owner has not renewed for `minutes`; returns how many. Raises BadInput."""
        return int(str(await self._database.call_value("recover_stale_jobs", minutes)))

    async def wake(self, queue: str | None = None) -> None:
        """Have workers look for jobs now."""
        await self._database.call("wake", queue)

    async def ping(self) -> None:
        """Ask the database for the time. Raises DatabaseUnavailable, SchemaMismatch."""
        await self._database.call("clock")
