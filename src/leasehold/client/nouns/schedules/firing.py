"""Firing schedules by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from leasehold.client.nouns.schedules.reading import ScheduleReading
from leasehold.database.rows import from_row
from leasehold.jobs.enqueueing.encoding import check_fields, encode_document
from leasehold.jobs.kinds.arguments import encode_args
from leasehold.jobs.producing.new_job import NewJob
from leasehold.jobs.producing.unique import Unique
from leasehold.records.jobs import KeyedJob
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

    async def enqueue_rows(
        self,
        name: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        keys: Sequence[str] | None = None,
        after_key: str | None = None,
        limit: int = 1000,
        priority: int | None = None,
        unique: Unique | None = None,
        dry_run: bool = False,
    ) -> list[KeyedJob]:
        """Enqueue now the jobs of a schedule for some rows of its query: those of one state, of these shops. All in one
        transaction. Its ticks and its history stay as they are, and it may be disabled.

        Example:
            await client.schedules.enqueue_rows("payload_fetch_all", metadata={"state_code": "AZ"})

        Args:
            name: of a schedule whose query gives each row a `key`.
            metadata: only rows whose column `metadata`, over that of the schedule, contains this.
            keys: only these.
            after_key: only those that follow it in byte order, to go on where the limit was reached.
            limit: the most keys, in byte order; up to 10000.
            priority: instead of that of the row or the schedule.
            unique: as of any job: `Unique(by=["kind", "key"])` makes none where one is waiting already.
            dry_run: only tell the keys.

        Returns:
            the keys in their order, each with its job.

        Raises:
            UnknownSchedule, QueryRefused: as in `trigger`.
            BadInput: it has no query, a row has no key, no row has such metadata, or a value is refused.
            UniqueConflict: a unique job is there already.
        """
        about = None if metadata is None else encode_args(metadata, "metadata").decode()
        own = check_fields(NewJob(kind="-", priority=priority, unique=unique))
        changes = {each: value for each in ("priority", "unique") if (value := getattr(own, each)) is not None}
        names = None if keys is None else [*keys]
        patience = await self._patience(name)
        values = (name, about, names, after_key, limit, dry_run, encode_document(changes))
        rows = await self._database.call("enqueue_for_rows", *values, timeout=patience)
        return [from_row(KeyedJob, row) for row in rows]

    async def _patience(self, name: str) -> float:
        return (await self.get(name)).query_timeout + EXTRA_SECONDS
