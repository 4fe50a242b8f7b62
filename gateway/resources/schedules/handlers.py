"""The handlers of `/api/schedules…`."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.http.problems import INSUFFICIENT_SCOPE, Refusal, refuse_field
from leasehold.gateway.http.replies import Reply
from leasehold.gateway.http.targets import NoParameters
from leasehold.gateway.resources.schedules.bodies import (
    AllHistoryParameters,
    ChangeParameters,
    DeletedScheduleBody,
    EnabledBody,
    GenerateParameters,
    HistoryParameters,
    LatestTicksParameters,
    PreviewParameters,
    RowsBody,
    ScheduleParameters,
    SchedulesParameters,
    TicksBody,
    TicksParameters,
)
from leasehold.gateway.routing.routes import Call
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.definition import ScheduleDefinition
from leasehold.schedules.records import FiredTick, ScheduleRecord, TickRecord


async def list_schedules(call: Call[SchedulesParameters, None]) -> Page[ScheduleRecord]:
    """A page of schedules by name."""
    asked = call.parameters
    found = await call.services.client.schedules.list(
        enabled=asked.enabled,
        kind=asked.kind,
        queue=asked.queue,
        after_name=_name_of(asked.cursor),
        page_size=asked.limit,
    )
    return Page(found, _cursor_behind(found[-1].name) if len(found) == asked.limit else None)


async def show_schedule(call: Call[ScheduleParameters, None]) -> ScheduleRecord:
    """One schedule, as it is set and as it stands."""
    return await call.services.client.schedules.get(call.parameters.name)


async def create_schedule(call: Call[NoParameters, ScheduleDefinition]) -> Reply:
    """Makes a schedule. A `query` needs a token with the scope admin, since it reads the database."""
    _check_query(call, call.body.query)
    made = await call.services.client.schedules.create_from(fields_of(call.body), by=call.identity.name)
    return Reply(made, headers={"Location": f"/api/schedules/{quote(made.name, safe='')}"})


async def put_schedule(call: Call[ChangeParameters, ScheduleDefinition]) -> ScheduleRecord:
    """Makes the schedule, or gives it the whole definition: what is left out takes its default. A `query` needs a token with
    the scope admin. To change a part, there is PATCH; clients of task workers may send a part here, too, and a body without
    `name` or `kind` counts as one."""
    asked, schedules = call.parameters, call.services.client.schedules
    if asked.name != call.body.name and (await schedules.get(asked.name)).name != call.body.name:
        raise refuse_field("$.name", "A schedule cannot be given another name")
    _check_query(call, call.body.query)
    return await schedules.put(fields_of(call.body), revision=asked.revision, by=call.identity.name)


async def change_schedule(call: Call[ChangeParameters, msgspec.Struct]) -> ScheduleRecord:
    """Changes what is given; null brings back the default. What is changed of a schedule that code declares stays changed
    when that code starts again. A `query` needs a token with the scope admin."""
    changes = fields_of(call.body)
    _check_query(call, changes.get("query"))
    asked = call.parameters
    return await call.services.client.schedules.update(
        asked.name, revision=asked.revision, by=call.identity.name, **changes
    )


async def reset_schedule(call: Call[ScheduleParameters, None]) -> ScheduleRecord:
    """Restores the schedule as the code last declared it."""
    return await call.services.client.schedules.reset(call.parameters.name, by=call.identity.name)


async def delete_schedule(call: Call[ScheduleParameters, None]) -> DeletedScheduleBody:
    """Removes the schedule and its history; jobs that it has made stay."""
    await call.services.client.schedules.delete(call.parameters.name)
    return DeletedScheduleBody(call.parameters.name)


async def enable_schedule(call: Call[ScheduleParameters, None]) -> EnabledBody:
    """Lets the schedule fire again, from its next tick on."""
    name = call.parameters.name
    return EnabledBody(name, True, await call.services.client.schedules.enable(name, by=call.identity.name))


async def disable_schedule(call: Call[ScheduleParameters, None]) -> EnabledBody:
    """Stops the schedule from firing by itself; it may still be triggered."""
    name = call.parameters.name
    return EnabledBody(name, False, await call.services.client.schedules.disable(name, by=call.identity.name))


async def trigger_schedule(call: Call[ScheduleParameters, None]) -> FiredTick:
    """Fires the schedule now, enabled or not. Its next tick stays the same."""
    return await call.services.client.schedules.trigger(call.parameters.name, by=call.identity.name)


async def enqueue_rows(call: Call[ScheduleParameters, RowsBody]) -> Page[KeyedJob]:
    """Makes the jobs of a schedule now for some rows of its query: for each shop of a state, as the table of shops has them.

    Whoever made the schedule wrote the query; the caller only narrows it. The query gives each row a `key`, and a column
    `metadata` to choose by. Keys come in byte order; `next` is a key: give it as `after_key` to go on where `limit` was
    reached. The schedule's ticks and history stay as they are, and it may be disabled. The answer reveals keys, so the scope
    `read` is needed.
    """
    body = call.body
    call.services.hiding.refuse_search(call.identity, body.metadata, "$.metadata")
    made = await call.services.client.schedules.enqueue_rows(
        call.parameters.name,
        metadata=body.metadata,
        keys=body.keys,
        after_key=body.after_key,
        limit=body.limit,
        priority=body.priority,
        unique=body.unique,
        dry_run=body.dry_run,
    )
    keys = {each.key for each in made}
    return Page(made, made[-1].key if len(keys) == body.limit else None)


async def generate_jobs(call: Call[GenerateParameters, None]) -> FiredTick:
    """Makes the jobs of one day, once: a second call for the same day answers with the same jobs."""
    asked = call.parameters
    return await call.services.client.schedules.generate(
        asked.schedule, batches=asked.batches, date=asked.date, by=call.identity.name
    )


async def preview_schedule(call: Call[PreviewParameters, None]) -> TicksBody:
    """The next ticks, with what its blackouts and the clocks of its zone do to them."""
    asked, schedules = call.parameters, call.services.client.schedules
    enabled = (await schedules.get(asked.name)).enabled
    return TicksBody(enabled, await schedules.preview(asked.name, count=asked.count, after=asked.after))


async def preview_definition(call: Call[TicksParameters, ScheduleDefinition]) -> TicksBody:
    """The next ticks of a schedule that is not there yet, checked as if it were to be made; nothing is made. A `query`
    needs a token with the scope admin."""
    _check_query(call, call.body.query)
    asked = call.parameters
    ticks = await call.services.client.schedules.check(fields_of(call.body), count=asked.count, after=asked.after)
    return TicksBody(call.body.enabled is not False, ticks)


async def show_history(call: Call[HistoryParameters, None]) -> Page[TickRecord]:
    """What became of the ticks of a schedule, newest first."""
    return await _history(call, call.parameters.name)


async def show_all_history(call: Call[AllHistoryParameters, None]) -> Page[TickRecord]:
    """What became of the ticks of all schedules, newest first."""
    return await _history(call, None)


async def show_latest(call: Call[LatestTicksParameters, None]) -> Page[TickRecord]:
    """What became of the last few ticks of each schedule, by schedule, the newest first, as one page."""
    return Page(await call.services.client.schedules.latest(call.parameters.count))


async def _history(
    call: Call[HistoryParameters, None] | Call[AllHistoryParameters, None], name: str | None
) -> Page[TickRecord]:
    asked = call.parameters
    found = await call.services.client.schedules.history(
        name, outcome=asked.outcome, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return Page(found, cursor_at(found[-1].id) if len(found) == asked.limit else None)


def fields_of(body: msgspec.Struct) -> dict[str, Any]:
    """What was given, by field."""
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    return {name: value for name, value in given.items() if value is not UNSET}


def _check_query(call: Call[Any, Any], query: str | None) -> None:
    """The caller's SELECT reads everything that the gateway may read, which needs more than the scope operate."""
    if query is not None and Scope.ADMIN not in call.identity.scopes:
        raise Refusal(
            INSUFFICIENT_SCOPE, f"A query needs a token with the scope admin; {call.identity.name} has not got it."
        )


def _cursor_behind(name: str) -> str:
    return urlsafe_b64encode(name.encode()).decode().rstrip("=")


def _name_of(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        name = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        name = ""
    if not name or _cursor_behind(name) != cursor or "\x00" in name:
        raise refuse_field("query.cursor", "It is no cursor of this service")
    return name
