"""Creating, changing and deleting schedules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from leasehold.client.nouns.schedules.reading import ScheduleReading, as_json
from leasehold.errors import UnknownSchedule
from leasehold.jobs.producing.new_job import NewJob
from leasehold.schedules.definition import FIELDS, ScheduleChanges, ScheduleOptions
from leasehold.schedules.encoding import checked_changes, checked_definition, define
from leasehold.schedules.records import ScheduleRecord


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
            name: of the schedule.
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
