"""Looking at schedules: lists, one schedule, what became of its ticks, which are to come."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack, cast

import msgspec

from leasehold.asks import checked_before
from leasehold.client.core import Part
from leasehold.database.calls import decode_json, decoded, from_row
from leasehold.errors import BadInput
from leasehold.schedules.definition import QUERY_ROWS, QUERY_TIMEOUT, ScheduleOptions
from leasehold.schedules.encoding import Definition, checked_definition, checked_moment, fitted
from leasehold.schedules.records import NextTick, QueryTrial, RecentTicks, ScheduleRecord, TickOutcome, TickRecord
from leasehold.schedules.timetable import beginning, next_ticks


class ScheduleReading(Part):
    """The part of `client.schedules` that looks."""

    async def list(
        self,
        *,
        enabled: bool | None = None,
        kind: str | None = None,
        queue: str | None = None,
        after_name: str | None = None,
        page_size: int = 100,
    ) -> list[ScheduleRecord]:
        """List a page of schedules by name; pass the last name as `after_name` for the next.

        Args:
            enabled: only those that fire, or only those that do not.
            kind, queue: only those that make such jobs.
            after_name: only those that follow this name.
            page_size: at most this many.

        Raises:
            BadInput: the page size is out of range.
        """
        return await self._records(ScheduleRecord, "list_schedules", enabled, kind, queue, after_name, page_size)

    async def get(self, name: str) -> ScheduleRecord:
        """Return one schedule.

        Raises:
            UnknownSchedule: there is no schedule of this name.
        """
        return await self._one("get_schedule", name)

    async def history(
        self,
        name: str | None = None,
        *,
        outcome: TickOutcome | None = None,
        before_id: int | None = None,
        page_size: int = 50,
    ) -> builtins.list[TickRecord]:
        """List a page of what became of ticks, newest first; pass the last id as `before_id` for the next.

        Args:
            name: of the schedule; None: of all.
            outcome: only ticks that ended so.
            before_id: only older ones.
            page_size: at most this many.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            BadInput: the page size is out of range.
        """
        return await self._records(
            TickRecord, "list_schedule_ticks", name, outcome, checked_before(before_id), page_size
        )

    async def recent(
        self, most: int = 20, *, queue: str | None = None, after_name: str | None = None, page_size: int = 100
    ) -> builtins.list[RecentTicks]:
        """List how the last few ticks of a page of schedules went, by schedule: little enough for a strip of states.

        Args:
            most: ticks of each schedule.
            queue, after_name, page_size: which schedules, as `list` has them.

        Raises:
            BadInput: `most` is not from 1 to 100, or the page size is out of range.
        """
        return await self._records(RecentTicks, "list_recent_ticks", most, queue, after_name, page_size)

    async def _one(self, function: str, *values: object) -> ScheduleRecord:
        [row] = await self._database.call(function, *values)
        return from_row(ScheduleRecord, row)

    def _fitted(self, definition: Definition) -> Definition:
        """With what its kind wants. Raises InvalidArgs, UnknownKind where the client's app does not take such jobs."""
        kind = self._core.kind(str(definition["kind"]))
        return definition if kind is None else fitted(definition, kind)


def as_json(value: Mapping[str, Any]) -> str:
    """A definition as the SQL functions take it."""
    return msgspec.json.encode(value).decode()


MOST_ROWS = 1000
TRIAL = """
with q as materialized (select * from ({query}
) q limit {most}), head as (select to_jsonb(q) as doc from q limit {limit})
select (select count(*) from q) as jobs, (select coalesce(jsonb_agg(f.doc), '[]') from head f) as rows
"""


class SchedulePreviews(ScheduleReading):
    """The part of `client.schedules` that looks ahead. It makes no jobs and no schedules."""

    async def preview(self, name: str, *, count: int = 10, after: datetime | None = None) -> list[NextTick]:
        """Return the next ticks of a schedule, enabled or not, with what changes of the clock do to them.

        Args:
            count: of ticks.
            after: only ticks after this moment; None: from now on.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            BadInput: count or after is out of range.
        """
        [row] = await self._database.call("get_schedule", name)
        now, schedule = await self._now(), decoded(row)
        return next_ticks(schedule, checked_moment(after, "after") or beginning(schedule, now), count, now)

    async def preview_of(
        self, *, count: int = 10, after: datetime | None = None, **options: Unpack[ScheduleOptions]
    ) -> list[NextTick]:
        """Return the next ticks that these options would give, as `preview` does; no schedule is made.

        Raises:
            BadInput: an option is wrong.
        """
        return await self.check(
            {"name": "preview", "kind": "preview", **options}, count=count, after=after, any_kind=True
        )

    async def check(
        self, definition: Mapping[str, Any], *, count: int = 10, after: datetime | None = None, any_kind: bool = False
    ) -> list[NextTick]:
        """Check a definition as `create_from` would, and return its next ticks; no schedule is made.

        Args:
            definition: as `create_from` takes it.
            count, after: as in `preview`.
            any_kind: do not check kind and args against the client's app.

        Raises:
            BadInput, InvalidArgs, UnknownKind: as in `create_from`; the name may be taken.
        """
        made = checked_definition(definition)
        if not any_kind:
            self._fitted(made)
        whole = await self._database.call_value("complete_schedule", as_json(made))
        if complaint := await self._database.call_value("refuse_schedule", whole):
            raise BadInput(str(complaint))
        if made.get("query") is not None:
            await self._database.call("read_schedule_rows", made["query"], 1, True)
        now = await self._now()
        start = checked_moment(after, "after") or beginning(msgspec.json.decode(str(whole)), now)
        return next_ticks(made, start, count, now)

    async def rows(self, name: str, *, limit: int = 10) -> list[dict[str, Any]]:
        """Return the first rows that a schedule's query gives now; each would be a job. The query runs read only.

        Args:
            limit: at most this many rows, 1 to 1000.

        Raises:
            UnknownSchedule: there is no schedule of this name.
            BadInput: it has no query, the query fails, or limit is out of range.
        """
        if not 1 <= limit <= MOST_ROWS:
            raise BadInput(f"limit must be from 1 to {MOST_ROWS}, not {limit}")
        one = await self.get(name)
        if one.query is None:
            raise BadInput(f"schedule {one.name!r} has no query: each of its ticks makes one job")
        text = f"select * from ({one.query}\n) q limit {limit:d}"
        rows = await self._database.call("read_schedule_rows", text, limit, timeout=one.query_timeout)
        return [decode_json(row[0]) for row in rows]

    async def trial(
        self, query: str, *, limit: int = 10, query_timeout: float = QUERY_TIMEOUT, query_rows: int = QUERY_ROWS
    ) -> QueryTrial:
        """Run a query as the tick of a schedule would, read only; return how many jobs that makes, and its first rows.

        Args:
            query: as in a schedule.
            limit: at most this many rows, 1 to 1000.
            query_timeout, query_rows: as in a schedule.

        Raises:
            BadInput: the query fails, as it would when the schedule fires, or limit is out of range.
        """
        if not 1 <= limit <= MOST_ROWS:
            raise BadInput(f"limit must be from 1 to {MOST_ROWS}, not {limit}")
        text = TRIAL.format(query=query, most=query_rows + 1, limit=limit)
        [row] = await self._database.call("read_schedule_rows", text, 1, timeout=query_timeout)
        found = msgspec.convert(decode_json(row[0]), QueryTrial)
        if found.jobs > query_rows:
            raise BadInput(f"the query has more than {query_rows} rows: raise query_rows, or have it select less")
        return found

    async def _now(self) -> datetime:
        return cast("datetime", await self._database.call_value("clock"))
