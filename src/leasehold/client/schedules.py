"""Schedules: make, look at, change and fire them."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Unpack, cast

import msgspec

from leasehold.client.ids import checked_before
from leasehold.client.section import Section
from leasehold.database.rows import decode_json, decoded, from_row
from leasehold.errors import BadInput, UnknownSchedule
from leasehold.jobs.producing.new_job import NewJob
from leasehold.schedules.definition import FIELDS, ScheduleChanges, ScheduleOptions
from leasehold.schedules.encoding import Definition, checked_changes, checked_definition, checked_moment, define, fitted
from leasehold.schedules.records import FiredTick, NextTick, ScheduleRecord, TickOutcome, TickRecord
from leasehold.schedules.upcoming import beginning, next_ticks

# What the network and the inserts may take beside the query.
EXTRA_SECONDS = 30.0
MOST_ROWS = 1000


class Schedules(Section):
    """`client.schedules`. Every call that takes a name takes the id as text as well, where no schedule has that name."""

    async def list(
        self,
        *,
        enabled: bool | None = None,
        kind: str | None = None,
        queue: str | None = None,
        after_name: str | None = None,
        page_size: int = 100,
    ) -> list[ScheduleRecord]:
        """A page of schedules by name; pass the last name as `after_name` for the next. Raises BadInput."""
        rows = await self._database.call("list_schedules", enabled, kind, queue, after_name, page_size)
        return [from_row(ScheduleRecord, row) for row in rows]

    async def get(self, name: str) -> ScheduleRecord:
        """One schedule. Raises UnknownSchedule."""
        return await self._one("get_schedule", name)

    async def create(
        self, job: NewJob[Any], /, *, name: str, by: str | None = None, **options: Unpack[ScheduleOptions]
    ) -> ScheduleRecord:
        """Make a schedule that makes such jobs from now on.

        Args:
            job: what its jobs are; `NewJob(kind="…")` where the handler is elsewhere.
            name: unique, of up to 200 bytes.
            by: who does this, for `updated_by`; the user of the database where not given.
            options: as in `ScheduleOptions`; one of `every`, `cron` and `at` must be there.

        Example:
            await client.schedules.create(clean_up.new(), name="nightly", cron="0 3 * * *", zone="Europe/Berlin")

        Raises:
            BadInput: an option is wrong. InvalidArgs, UnknownKind: the client's app does not take such a job.
            WrongState: the name is taken.
        """
        return await self.create_from(define(job, name, options, self._kind(job.kind)), by=by)

    async def create_from(self, definition: Mapping[str, Any], *, by: str | None = None) -> ScheduleRecord:
        """As `create`, from the fields of a `ScheduleDefinition`; with a `query`, each tick makes a job for each row of it.

        Raises BadInput also where Postgres does not plan the query.
        """
        return await self._one("create_schedule", _json(self._fitted(checked_definition(definition))), by)

    async def update(
        self, name: str, /, *, revision: int | None = None, by: str | None = None, **changes: Unpack[ScheduleChanges]
    ) -> ScheduleRecord:
        """Change a schedule; what is not given stays, and None brings back the default.

        Where code declares the schedule, that does not touch these fields any more (`overridden`), until `reset`.

        Args:
            name: of the schedule.
            revision: refuse to, if it has another one by now.
            by: as in `create`.
            changes: as in `ScheduleOptions`, and `kind`, `args`, `query`.

        Raises:
            UnknownSchedule: there is none. WrongState: it has another revision. BadInput, InvalidArgs, UnknownKind: as in
                `create`.
        """
        wanted = checked_changes(name, changes)
        if self._app is not None and wanted.keys() & {"kind", "args", "query"}:
            now = await self.get(name)
            self._fitted({"kind": now.kind, "args": now.args, "query": now.query, **wanted})
        return await self._one("update_schedule", name, _json(wanted), revision, by)

    async def put(
        self, definition: Mapping[str, Any], *, revision: int | None = None, by: str | None = None
    ) -> ScheduleRecord:
        """Make a schedule, or give the one of this name the whole definition: what is left out takes its default.

        Raises as `create_from` and `update`; UnknownSchedule only where a `revision` is given.
        """
        whole = _json(self._fitted(dict.fromkeys(FIELDS) | checked_definition(definition)))
        try:
            return await self._one("update_schedule", str(definition["name"]), whole, revision, by)
        except UnknownSchedule:
            if revision is not None:
                raise
            return await self._one("create_schedule", whole, by)

    async def reset(self, name: str, *, by: str | None = None) -> ScheduleRecord:
        """Give a schedule back to the code that declares it, as that declared it last.

        Raises UnknownSchedule; WrongState where no code has declared it.
        """
        return await self._one("reset_schedule", name, by)

    async def delete(self, name: str) -> None:
        """Remove a schedule and its history; jobs that it made stay. Raises UnknownSchedule.

        Where code declares it, the next scheduler that starts makes it anew: disable such a schedule instead.
        """
        if not await self._database.call_value("delete_schedule", name):
            raise UnknownSchedule(f"there is no schedule {name!r}")

    async def enable(self, name: str, *, by: str | None = None) -> bool:
        """Let it fire again, from its next tick on; returns whether this changed anything. Raises UnknownSchedule."""
        return bool(await self._database.call_value("enable_schedule", name, by))

    async def disable(self, name: str, *, by: str | None = None) -> bool:
        """Have it fire no more by itself; returns whether this changed anything. Raises UnknownSchedule."""
        return bool(await self._database.call_value("disable_schedule", name, by))

    async def trigger(self, name: str, *, by: str | None = None) -> FiredTick:
        """Fire it now, enabled or not, whatever its overlap policy; its next tick stays where it is.

        Raises UnknownSchedule; BadInput, QueryRefused where its query fails.
        """
        patience = await self._patience(name)
        [row] = await self._database.call("trigger_schedule", name, by, timeout=patience)
        return FiredTick(schedule=name, tick_at=row["tick_at"], job_count=row["job_count"], job_ids=row["job_ids"])

    async def generate(
        self, name: str, *, batches: int | None = None, date: date | None = None, by: str | None = None
    ) -> FiredTick:
        """Make the jobs of one day, once: a second call for the same day answers with the same jobs.

        Args:
            name: of the schedule.
            batches: spread the jobs over `stagger` in so many batches; as the schedule says where not given.
            date: the day in the schedule's zone; today where not given.
            by: as in `create`.

        Raises as `trigger`.
        """
        patience = await self._patience(name)
        [row] = await self._database.call("generate_jobs", name, batches, date, by, timeout=patience)
        return FiredTick(schedule=name, **{each: row[each] for each in ("tick_at", "job_count", "job_ids", "is_new")})

    async def preview(self, name: str, *, count: int = 10, after: datetime | None = None) -> builtins.list[NextTick]:
        """The next ticks of a schedule, with what its blackouts and the clocks of its zone do to them.

        Ticks are told whether it is enabled or not. Raises UnknownSchedule; BadInput: it cannot be planned.
        """
        [row] = await self._database.call("get_schedule", name)
        now, schedule = await self._now(), decoded(row)
        return next_ticks(schedule, checked_moment(after, "after") or beginning(schedule, now), count, now)

    async def preview_of(
        self, *, count: int = 10, after: datetime | None = None, **options: Unpack[ScheduleOptions]
    ) -> builtins.list[NextTick]:
        """As `preview`, for a schedule that is not there yet: what these options would mean. Raises BadInput."""
        return await self.check(
            {"name": "preview", "kind": "preview", **options}, count=count, after=after, any_kind=True
        )

    async def check(
        self, definition: Mapping[str, Any], *, count: int = 10, after: datetime | None = None, any_kind: bool = False
    ) -> builtins.list[NextTick]:
        """The next ticks of a schedule that `create_from` would make of this; nothing is made.

        Args:
            definition: as `create_from` takes it.
            count, after: as in `preview`.
            any_kind: do not ask the client's app about the jobs.

        Raises as `create_from`, except that the name may be taken.
        """
        made = checked_definition(definition)
        if not any_kind:
            self._fitted(made)
        whole = await self._database.call_value("complete_schedule", _json(made))
        if complaint := await self._database.call_value("refuse_schedule", whole):
            raise BadInput(str(complaint))
        if made.get("query") is not None:
            await self._database.call("read_schedule_rows", made["query"], 1, True)
        now = await self._now()
        start = checked_moment(after, "after") or beginning(msgspec.json.decode(str(whole)), now)
        return next_ticks(made, start, count, now)

    async def rows(self, name: str, *, limit: int = 10) -> builtins.list[dict[str, Any]]:
        """The first rows that a schedule's query gives now, read only; each would be a job.

        Raises UnknownSchedule; BadInput: it has no query, the query fails, or `limit` is not from 1 to 1000.
        """
        if not 1 <= limit <= MOST_ROWS:
            raise BadInput(f"limit must be from 1 to {MOST_ROWS}, not {limit}")
        one = await self.get(name)
        if one.query is None:
            raise BadInput(f"schedule {one.name!r} has no query: each of its ticks makes one job")
        text = f"select * from ({one.query}\n) q limit {limit:d}"
        rows = await self._database.call("read_schedule_rows", text, limit, timeout=one.query_timeout)
        return [decode_json(row[0]) for row in rows]

    async def history(
        self,
        name: str | None = None,
        *,
        outcome: TickOutcome | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> builtins.list[TickRecord]:
        """A page of what became of ticks, newest first, of one schedule or of all; pass the last id as `before_id` for the
        next. Raises UnknownSchedule, BadInput."""
        rows = await self._database.call("list_schedule_ticks", name, outcome, checked_before(before_id), page_size)
        return [from_row(TickRecord, row) for row in rows]

    async def _one(self, function: str, *values: object) -> ScheduleRecord:
        [row] = await self._database.call(function, *values)
        return from_row(ScheduleRecord, row)

    async def _patience(self, name: str) -> float:
        return (await self.get(name)).query_timeout + EXTRA_SECONDS

    async def _now(self) -> datetime:
        return cast("datetime", await self._database.call_value("clock"))

    def _fitted(self, definition: Definition) -> Definition:
        """With what its kind wants. Raises InvalidArgs, UnknownKind where the client's app does not take such jobs."""
        kind = self._kind(str(definition["kind"]))
        return definition if kind is None else fitted(definition, kind)


def _json(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
