"""`/api/schedule-history…`: what became of the ticks of schedules."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Cursor, Limit, Name, Page, cursor_at, place_of
from leasehold.gateway.nouns.schedules import KNOWN, NameCursor, ScheduleName, name_of
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.schedules.records import RecentTicks, TickOutcome, TickRecord


class AllHistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks of all schedules."""

    outcome: TickOutcome | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class RecentTicksParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many ticks of each schedule, and which schedules, as the list of schedules has them."""

    count: Annotated[int, Meta(ge=1, le=100)] = 20
    queue: Name | None = None
    cursor: NameCursor | None = None
    limit: Limit = 100


class HistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks of which schedule."""

    name: ScheduleName
    outcome: TickOutcome | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


routes = Routes("schedules")


@routes(
    "GET",
    "/api/schedules/{name}/history",
    "List what became of the ticks of a schedule",
    errors=KNOWN,
    scope=Scope.READ,
)
async def show_history(call: Call[HistoryParameters, None]) -> Page[TickRecord]:
    """What became of the ticks of a schedule, newest first."""
    return await _history(call, call.parameters.name)


@routes("GET", "/api/schedule-history", "List what became of the ticks of all schedules", scope=Scope.READ)
async def show_all_history(call: Call[AllHistoryParameters, None]) -> Page[TickRecord]:
    """What became of the ticks of all schedules, newest first."""
    return await _history(call, None)


@routes("GET", "/api/schedule-history/recent", "Show how the last few ticks of each schedule went", scope=Scope.READ)
async def show_recent(call: Call[RecentTicksParameters, None]) -> Page[RecentTicks]:
    """How the last few ticks of a page of schedules went, by schedule: times, outcomes and numbers of jobs as lists, the newest
    first. With `queue`, `cursor` and `limit` as for `GET /api/schedules`, it has those of that page."""
    asked = call.parameters
    return Page(
        await call.services.client.schedules.recent(
            asked.count, queue=asked.queue, after_name=name_of(asked.cursor), page_size=asked.limit
        )
    )


async def _history(
    call: Call[HistoryParameters, None] | Call[AllHistoryParameters, None], name: str | None
) -> Page[TickRecord]:
    asked = call.parameters
    found = await call.services.client.schedules.history(
        name, outcome=asked.outcome, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return Page(found, cursor_at(found[-1].id) if len(found) == asked.limit else None)
