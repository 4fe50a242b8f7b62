"""Looking at schedules."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import msgspec

from leasehold.asks.ids import checked_before
from leasehold.client.core import Part
from leasehold.database.rows import from_row
from leasehold.schedules.encoding import Definition, fitted
from leasehold.schedules.records import ScheduleRecord, TickOutcome, TickRecord


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
        rows = await self._database.call("list_schedules", enabled, kind, queue, after_name, page_size)
        return [from_row(ScheduleRecord, row) for row in rows]

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
        rows = await self._database.call("list_schedule_ticks", name, outcome, checked_before(before_id), page_size)
        return [from_row(TickRecord, row) for row in rows]

    async def latest(self, most: int = 20) -> builtins.list[TickRecord]:
        """List what became of the last few ticks of each schedule, by schedule, the newest first.

        Raises:
            BadInput: `most` is not from 1 to 100.
        """
        return [from_row(TickRecord, row) for row in await self._database.call("list_latest_ticks", most)]

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
