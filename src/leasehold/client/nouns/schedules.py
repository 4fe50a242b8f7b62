"""`client.schedules`: looking at schedules, changing them, firing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Unpack

import msgspec

from leasehold.client.nouns.schedules_read import SchedulePreviews, ScheduleReading, as_json
from leasehold.errors import UnknownSchedule
from leasehold.jobs.arguments import encode_args
from leasehold.jobs.encoding import check_fields, encode_document
from leasehold.jobs.new_job import NewJob, Unique
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.definition import FIELDS, ScheduleChanges, ScheduleOptions
from leasehold.schedules.encoding import checked_changes, checked_definition, define
from leasehold.schedules.records import FiredTick, ScheduleRecord


class ScheduleDefining(ScheduleReading):
    """The part of `client.schedules` that defines."""

    async def create(
        self, job: NewJob[Any], /, *, name: str, by: str | None = None, **options: Unpack[ScheduleOptions]
    ) -> ScheduleRecord:
        """Create a schedule that makes this job at each of its ticks, from now on.

        Args:
            job: what each tick makes; `NewJob(kind="…")` where this program does not have the handler.
            name: unique, of up to 200 bytes.
            by: who does this, for `updated_by`; None: the database user.
            options: as in `ScheduleOptions`, with one of `every`, `cron` and `at`.

        Example:
            await client.schedules.create(clean_up.new(), name="nightly", cron="0 3 * * *", zone="Europe/Berlin")

        Raises:
            BadInput: an option is wrong.
            InvalidArgs, UnknownKind: the client's app refuses the job.
            WrongState: the name is taken.
        """
        return await self.create_from(define(job, name, options, self._core.kind(job.kind)), by=by)

    async def create_from(self, definition: Mapping[str, Any], *, by: str | None = None) -> ScheduleRecord:
        """Create a schedule from the fields of a `ScheduleDefinition`; with a `query`, each tick makes a job for each row.

        Args:
            definition: with `name` and `kind`.
            by: as in `create`.

        Raises:
            BadInput: a field is wrong, or Postgres cannot plan the query.
            InvalidArgs, UnknownKind, WrongState: as in `create`.
        """
        return await self._one("create_schedule", as_json(self._fitted(checked_definition(definition))), by)

    async def update(
        self, name: str, /, *, revision: int | None = None, by: str | None = None, **changes: Unpack[ScheduleChanges]
    ) -> ScheduleRecord:
        """Change some options of a schedule; the others stay, and None brings back a default.

        Where code declares the schedule, it no longer sets the changed fields (`overridden`), until `reset`.

        Args:
            revision: change it only if this is still its revision.
            by: as in `create`.
            changes: as in `ScheduleOptions`, and `kind`, `args`, `query`.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            WrongState: it has another revision.
            BadInput, InvalidArgs, UnknownKind: as in `create`.
        """
        wanted = checked_changes(name, changes)
        if self._core.app is not None and wanted.keys() & {"kind", "args", "query"}:
            now = await self.get(name)
            self._fitted({"kind": now.kind, "args": now.args, "query": now.query, **wanted})
        return await self._one("update_schedule", name, as_json(wanted), revision, by)

    async def put(
        self, definition: Mapping[str, Any], *, revision: int | None = None, by: str | None = None
    ) -> ScheduleRecord:
        """Create a schedule, or give the one of this name a whole new definition: what is left out takes its default.

        Args:
            definition: as `create_from` takes it.
            revision: change it only if this is still its revision.
            by: as in `create`.

        Raises:
            UnknownSchedule: a revision is given, and there is no schedule of this name.
            WrongState: it has another revision.
            BadInput, InvalidArgs, UnknownKind: as in `create_from`.
        """
        whole = as_json(self._fitted(dict.fromkeys(FIELDS) | checked_definition(definition)))
        try:
            return await self._one("update_schedule", str(definition["name"]), whole, revision, by)
        except UnknownSchedule:
            if revision is not None:
                raise
            return await self._one("create_schedule", whole, by)

    async def reset(self, name: str, *, by: str | None = None) -> ScheduleRecord:
        """Undo all changes of a schedule that code declares: it is again as the code declared it last.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            WrongState: no code has declared it.
        """
        return await self._one("reset_schedule", name, by)

    async def delete(self, name: str) -> None:
        """Delete a schedule and its history; jobs that it made stay.

        Where code declares it, the next scheduler that starts creates it again: disable it instead.

        Raises:
            UnknownSchedule: there is no schedule of this name.
        """
        if not await self._database.call_value("delete_schedule", name):
            raise UnknownSchedule(f"there is no schedule {name!r}")

    async def enable(self, name: str, *, by: str | None = None) -> bool:
        """Let a schedule fire again, from its next tick on; returns whether this changed anything.

        Raises:
            UnknownSchedule: there is no schedule of this name.
        """
        return bool(await self._database.call_value("enable_schedule", name, by))

    async def disable(self, name: str, *, by: str | None = None) -> bool:
        """Stop a schedule from firing by itself; returns whether this changed anything.

        Raises:
            UnknownSchedule: there is no schedule of this name.
        """
        return bool(await self._database.call_value("disable_schedule", name, by))


EXTRA_SECONDS = 30.0  # what the network and the inserts may take beside the query


def _patience(schedule: ScheduleRecord) -> float:
    return schedule.query_timeout + EXTRA_SECONDS


class ScheduleFiring(ScheduleReading):
    """The part of `client.schedules` that fires."""

    async def trigger(self, name: str, *, by: str | None = None) -> FiredTick:
        """Fire a schedule now, also when it is disabled or its overlap policy says no; its next tick stays where it is.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            BadInput, QueryRefused: its query fails.
        """
        return await self._fire("trigger_schedule", name, by)

    async def generate(
        self, name: str, *, batches: int | None = None, date: date | None = None, by: str | None = None
    ) -> FiredTick:
        """Make the jobs of one day, once: a second call for the same day returns the same jobs.

        Args:
            batches: spread the jobs over `stagger` in this many batches; None: as the schedule says.
            date: the day in the schedule's zone; None: today.
            by: as in `create`.

        Raises:
            UnknownSchedule, BadInput, QueryRefused: as in `trigger`.
        """
        return await self._fire("generate_jobs", name, batches, date, by)

    async def _fire(self, function: str, name: str, *values: object) -> FiredTick:
        fired = await self.get(name)
        [row] = await self._database.call(function, name, *values, timeout=_patience(fired))
        return msgspec.convert({**row, "schedule": fired.name}, FiredTick)

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
        patience = _patience(await self.get(name))
        values = (name, about, names, after_key, limit, dry_run, encode_document(changes))
        return await self._records(KeyedJob, "enqueue_for_rows", *values, timeout=patience)


class Schedules(ScheduleDefining, ScheduleFiring, SchedulePreviews):
    """`client.schedules`. A call that takes a name also takes the id as text, where no schedule has that name."""
