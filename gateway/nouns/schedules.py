"""`/api/schedules…`, and the history of their ticks."""

from __future__ import annotations

import datetime
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Meta

from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import DryRun, Integer, Key, Limit, Name, Page
from leasehold.gateway.http.problems import (
    INSUFFICIENT_SCOPE,
    INVALID_ARGS,
    UNIQUE_CONFLICT,
    UNKNOWN_KIND,
    UNKNOWN_SCHEDULE,
    WRONG_STATE,
    Refusal,
    refuse_field,
)
from leasehold.gateway.http.replies import Reply
from leasehold.gateway.http.targets import NoParameters
from leasehold.gateway.nouns.jobs_enqueue import IDEMPOTENCY_KEY, NO_KEY
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.jobs.new_job import Unique
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.definition import QUERY_ROWS, QUERY_TIMEOUT, ScheduleChange, ScheduleDefinition
from leasehold.schedules.records import FiredTick, NextTick, QueryTrial, ScheduleRecord

ScheduleName = Annotated[str, Meta(min_length=1, max_length=200, description="Name of a schedule, or its id.")]
Revision = Annotated[int, Meta(ge=1, le=2**63 - 1, description="Refuse, if it has another one by now.")]
Count = Annotated[int, Meta(ge=1, le=366, description="How many ticks.")]
After = Annotated[datetime.datetime, Meta(tz=True, description="Ticks after this time; after now if not given.")]


NameCursor = Annotated[str, Meta(max_length=300, description="`next` of the page before.")]


class SchedulesParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedules."""

    enabled: bool | None = None
    kind: Name | None = None
    queue: Name | None = None
    cursor: NameCursor | None = None
    limit: Limit = 100


class ScheduleParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedule."""

    name: ScheduleName


class ChangeParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedule, and which revision of it."""

    name: ScheduleName
    revision: Revision | None = None


class TicksParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks."""

    count: Count = 10
    after: After | None = None
    rows: (
        Annotated[int, Meta(ge=1, le=100, description="Run the query, too, read only; show this many rows.")] | None
    ) = None


class PreviewParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which ticks of which schedule."""

    name: ScheduleName
    count: Count = 10
    after: After | None = None


class GenerateParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which schedule, for which day."""

    schedule: ScheduleName
    date: Annotated[datetime.date, Meta(description="The day in the schedule's zone; today if not given.")] | None = (
        None
    )
    batches: Annotated[int, Meta(ge=1, le=100_000, description="Spread the jobs in this many batches.")] | None = None


class RowsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which rows of a schedule's query jobs are enqueued, and what is different about them."""

    metadata: (
        Annotated[dict[str, Any], Meta(description="A JSON object that is part of a row's `metadata`.")] | None
    ) = None
    keys: Annotated[list[Key], Meta(max_length=10_000, description="Only these.")] | None = None
    after_key: Annotated[Key, Meta(description="Only later keys: `next` of the answer before.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many keys.")] = 1000
    priority: Annotated[Integer, Meta(description="Instead of that of the row or the schedule.")] | None = None
    unique: Annotated[Unique, Meta(description="Which other jobs count as these.")] | None = None
    dry_run: DryRun = False


class EnabledBody(msgspec.Struct, frozen=True):
    """How the schedule is now, and whether this call changed it."""

    schedule: str
    enabled: bool
    changed: bool


class DeletedScheduleBody(msgspec.Struct, frozen=True):
    """The schedule that was removed."""

    deleted: str


class TicksBody(msgspec.Struct, frozen=True):
    """Ticks that are to come. `enabled`: whether they are going to fire. `query`: what its query gives now, where asked for."""

    enabled: bool
    ticks: Sequence[NextTick]
    query: QueryTrial | None = None


KNOWN = (UNKNOWN_SCHEDULE,)
MAKING = (INVALID_ARGS, UNKNOWN_KIND, WRONG_STATE)
CHANGING = (UNKNOWN_SCHEDULE, *MAKING)
EXAMPLE = {"name": "nightly", "kind": "clean_up", "args": {"days": 30}, "cron": "0 3 * * *", "zone": "Europe/Berlin"}
routes = Routes("schedules")


@routes("GET", "/api/schedules", "List schedules by name", scope=Scope.READ)
async def list_schedules(call: Call[SchedulesParameters, None]) -> Page[ScheduleRecord]:
    """A page of schedules by name."""
    asked = call.parameters
    found = await call.services.client.schedules.list(
        enabled=asked.enabled,
        kind=asked.kind,
        queue=asked.queue,
        after_name=name_of(asked.cursor),
        page_size=asked.limit,
    )
    return Page(found, cursor_behind(found[-1].name) if len(found) == asked.limit else None)


@routes("GET", "/api/schedules/{name}", "Show one schedule", errors=KNOWN, scope=Scope.READ)
async def show_schedule(call: Call[ScheduleParameters, None]) -> ScheduleRecord:
    """One schedule, as it is set and as it stands."""
    return await call.services.client.schedules.get(call.parameters.name)


@routes(
    "POST",
    "/api/schedules",
    "Make a schedule",
    response=ScheduleRecord,
    status=201,
    example=EXAMPLE,
    errors=MAKING,
    scope=Scope.OPERATE,
)
async def create_schedule(call: Call[NoParameters, ScheduleDefinition]) -> Reply:
    """Makes a schedule. A `query` needs a token with the scope admin, since it reads the database."""
    _check_query(call, call.body.query)
    made = await call.services.client.schedules.create_from(fields_of(call.body), by=call.identity.name)
    return Reply(made, headers={"Location": f"/api/schedules/{quote(made.name, safe='')}"})


@routes(
    "PUT",
    "/api/schedules/{name}",
    "Make a schedule or replace what it says",
    example=EXAMPLE,
    errors=CHANGING,
    scope=Scope.OPERATE,
)
async def put_schedule(call: Call[ChangeParameters, ScheduleDefinition]) -> ScheduleRecord:
    """Makes the schedule, or gives it the whole definition: what is left out takes its default. A `query` needs a token with
    the scope admin. To change a part, there is PATCH; clients of task workers may send a part here, too, and a body without
    `name` or `kind` counts as one."""
    asked, schedules = call.parameters, call.services.client.schedules
    if asked.name != call.body.name and (await schedules.get(asked.name)).name != call.body.name:
        raise refuse_field("$.name", "A schedule cannot be given another name")
    _check_query(call, call.body.query)
    return await schedules.put(fields_of(call.body), revision=asked.revision, by=call.identity.name)


@routes(
    "PATCH",
    "/api/schedules/{name}",
    "Change a schedule",
    request=ScheduleChange,
    example={"cron": "0 4 * * *", "overlap": "skip"},
    errors=CHANGING,
    scope=Scope.OPERATE,
)
async def change_schedule(call: Call[ChangeParameters, msgspec.Struct]) -> ScheduleRecord:
    """Changes what is given; null brings back the default. What is changed of a schedule that code declares stays changed
    when that code starts again. A `query` needs a token with the scope admin."""
    changes = fields_of(call.body)
    _check_query(call, changes.get("query"))
    asked = call.parameters
    return await call.services.client.schedules.update(
        asked.name, revision=asked.revision, by=call.identity.name, **changes
    )


@routes(
    "POST",
    "/api/schedules/{name}/reset",
    "Give a schedule back to the code that declares it",
    errors=(WRONG_STATE, *KNOWN),
    scope=Scope.OPERATE,
)
async def reset_schedule(call: Call[ScheduleParameters, None]) -> ScheduleRecord:
    """Restores the schedule as the code last declared it."""
    return await call.services.client.schedules.reset(call.parameters.name, by=call.identity.name)


@routes("DELETE", "/api/schedules/{name}", "Remove a schedule and its history", errors=KNOWN, scope=Scope.OPERATE)
async def delete_schedule(call: Call[ScheduleParameters, None]) -> DeletedScheduleBody:
    """Removes the schedule and its history; jobs that it has made stay."""
    await call.services.client.schedules.delete(call.parameters.name)
    return DeletedScheduleBody(call.parameters.name)


@routes("POST", "/api/schedules/{name}/enable", "Let a schedule fire again", errors=KNOWN, scope=Scope.OPERATE)
async def enable_schedule(call: Call[ScheduleParameters, None]) -> EnabledBody:
    """Lets the schedule fire again, from its next tick on."""
    name = call.parameters.name
    return EnabledBody(name, True, await call.services.client.schedules.enable(name, by=call.identity.name))


@routes(
    "POST", "/api/schedules/{name}/disable", "Have a schedule fire no more by itself", errors=KNOWN, scope=Scope.OPERATE
)
async def disable_schedule(call: Call[ScheduleParameters, None]) -> EnabledBody:
    """Stops the schedule from firing by itself; it may still be triggered."""
    name = call.parameters.name
    return EnabledBody(name, False, await call.services.client.schedules.disable(name, by=call.identity.name))


@routes("POST", "/api/schedules/{name}/trigger", "Fire a schedule now", errors=KNOWN, scope=Scope.OPERATE)
async def trigger_schedule(call: Call[ScheduleParameters, None]) -> FiredTick:
    """Fires the schedule now, enabled or not. Its next tick stays the same."""
    return await call.services.client.schedules.trigger(call.parameters.name, by=call.identity.name)


@routes(
    "POST",
    "/api/schedules/{name}/enqueue",
    "Enqueue the jobs of a schedule for some rows of its query",
    refused_headers={IDEMPOTENCY_KEY: NO_KEY},
    errors=(UNKNOWN_SCHEDULE, UNIQUE_CONFLICT, *MAKING),
    scope=Scope.ENQUEUE,
    also=Scope.READ,
    example={"metadata": {"state_code": "AZ"}, "unique": {"by": ["kind", "key"]}},
)
async def enqueue_rows(call: Call[ScheduleParameters, RowsBody]) -> Page[KeyedJob]:
    """Makes the jobs of a schedule now for some rows of its query: for each shop of a state, as the table of shops has them.

    Whoever made the schedule wrote the query; the caller only narrows it. The query gives each row a `key`, and a column
    `metadata` to choose by. Keys come in byte order; `next` is a key: give it as `after_key` to go on where `limit` was
    reached. The schedule's ticks and history stay as they are, and it may be disabled. The answer reveals keys, so the scope
    `read` is needed.
    """
    body = call.body
    call.services.hiding.refuse_search(call.identity, body.metadata, "$.metadata")
    made = await call.services.client.schedules.enqueue_rows(call.parameters.name, **msgspec.structs.asdict(body))
    keys = {each.key for each in made}
    return Page(made, made[-1].key if len(keys) == body.limit else None)


@routes(
    "POST",
    "/api/jobs/generate/{schedule}",
    "Make the jobs of a schedule for one day",
    errors=KNOWN,
    scope=Scope.OPERATE,
)
async def generate_jobs(call: Call[GenerateParameters, None]) -> FiredTick:
    """Makes the jobs of one day, once: a second call for the same day answers with the same jobs."""
    asked = call.parameters
    return await call.services.client.schedules.generate(
        asked.schedule, batches=asked.batches, date=asked.date, by=call.identity.name
    )


@routes("GET", "/api/schedules/{name}/preview", "Show the next ticks of a schedule", errors=KNOWN, scope=Scope.READ)
async def preview_schedule(call: Call[PreviewParameters, None]) -> TicksBody:
    """The next ticks, with what the clocks of its zone do to them."""
    asked, schedules = call.parameters, call.services.client.schedules
    enabled = (await schedules.get(asked.name)).enabled
    return TicksBody(enabled, await schedules.preview(asked.name, count=asked.count, after=asked.after))


@routes(
    "POST",
    "/api/schedules/preview",
    "Show the next ticks of a schedule before it is made",
    example=EXAMPLE,
    errors=MAKING,
    scope=Scope.READ,
)
async def preview_definition(call: Call[TicksParameters, ScheduleDefinition]) -> TicksBody:
    """The next ticks of a schedule that is not there yet, checked as if it were to be made; nothing is made. A `query`
    needs a token with the scope admin; with `rows` it is run, as a tick would run it, and said how many jobs that makes."""
    _check_query(call, call.body.query)
    asked, body, schedules = call.parameters, call.body, call.services.client.schedules
    ticks = await schedules.check(fields_of(body), count=asked.count, after=asked.after)
    trial = None
    if asked.rows is not None and body.query is not None:
        timeout, most = body.query_timeout or QUERY_TIMEOUT, body.query_rows or QUERY_ROWS
        trial = await schedules.trial(body.query, limit=asked.rows, query_timeout=timeout, query_rows=most)
    return TicksBody(body.enabled is not False, ticks, trial)


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


def cursor_behind(name: str) -> str:
    """The cursor of the page that follows this name."""
    return urlsafe_b64encode(name.encode()).decode().rstrip("=")


def name_of(cursor: str | None) -> str | None:
    """The name that a page follows. Raises Refusal."""
    if cursor is None:
        return None
    try:
        name = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        name = ""
    if not name or cursor_behind(name) != cursor or "\x00" in name:
        raise refuse_field("query.cursor", "It is no cursor of this service")
    return name
