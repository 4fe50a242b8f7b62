"""Firing schedules by hand."""

from __future__ import annotations

from datetime import date

from leasehold.client.nouns.schedules.reading import ScheduleReading
from leasehold.schedules.records import FiredTick

EXTRA_SECONDS = 30.0  # what the network and the inserts may take beside the query


class ScheduleFiring(ScheduleReading):
    """The part of `client.schedules` that fires."""

    async def trigger(self, name: str, *, by: str | None = None) -> FiredTick:
        """Fire a schedule now, also when it is disabled or its overlap policy says no; its next tick stays where it is.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            BadInput, QueryRefused: its query fails.
        """
        patience = await self._patience(name)
        [row] = await self._database.call("trigger_schedule", name, by, timeout=patience)
        return FiredTick(schedule=name, tick_at=row["tick_at"], job_count=row["job_count"], job_ids=row["job_ids"])

    async def generate(
        self, name: str, *, batches: int | None = None, date: date | None = None, by: str | None = None
    ) -> FiredTick:
        """Make the jobs of one day, once: a second call for the same day returns the same jobs.

        Args:
            name: of the schedule.
            batches: spread the jobs over `stagger` in this many batches; None: as the schedule says.
            date: the day in the schedule's zone; None: today.
            by: as in `create`.

        Raises:
            UnknownSchedule, BadInput, QueryRefused: as in `trigger`.
        """
        patience = await self._patience(name)
        [row] = await self._database.call("generate_jobs", name, batches, date, by, timeout=patience)
        return FiredTick(schedule=name, **{each: row[each] for each in ("tick_at", "job_count", "job_ids", "is_new")})

    async def _patience(self, name: str) -> float:
        return (await self.get(name)).query_timeout + EXTRA_SECONDS
