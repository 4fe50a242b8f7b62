"""What schedules will do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Unpack, cast

import msgspec

from leasehold.client.nouns.schedules.reading import ScheduleReading, as_json
from leasehold.database.rows import decode_json, decoded
from leasehold.errors import BadInput
from leasehold.schedules.definition import ScheduleOptions
from leasehold.schedules.encoding import checked_definition, checked_moment
from leasehold.schedules.records import NextTick
from leasehold.schedules.upcoming import beginning, next_ticks

MOST_ROWS = 1000


class SchedulePreviews(ScheduleReading):
    """The part of `client.schedules` that looks ahead. It makes no jobs and no schedules."""

    async def preview(self, name: str, *, count: int = 10, after: datetime | None = None) -> list[NextTick]:
        """Return the next ticks of a schedule, enabled or not, with what its blackouts and changes of the clock do to them.

        Args:
            name: of the schedule.
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
            name: of the schedule.
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

    async def _now(self) -> datetime:
        return cast("datetime", await self._database.call_value("clock"))
