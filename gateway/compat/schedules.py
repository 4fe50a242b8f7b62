"""Schedules as task workers' clients change them, and requests that make or take back many tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.client import Client
from leasehold.errors import UnknownSchedule
from leasehold.gateway.compat.tasks import DEFAULT_RETRIES
from leasehold.gateway.http.fields import DryRun, Integer, Name, Page
from leasehold.gateway.http.problems import refuse_field
from leasehold.gateway.http.reading import refuse_shape
from leasehold.gateway.nouns import jobs, jobs_enqueue, schedules
from leasehold.gateway.nouns.jobs import RecoveredBody, StaleParameters
from leasehold.gateway.nouns.jobs_enqueue import JobBody, KeyFilter, KeysBody
from leasehold.gateway.nouns.schedules import (
    ChangeParameters,
    GenerateParameters,
    RowsBody,
    ScheduleName,
    ScheduleParameters,
    SchedulesParameters,
)
from leasehold.gateway.routing.routes import Call, NoParameters, Reply
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.definition import ScheduleChange, ScheduleDefinition
from leasehold.schedules.records import FiredTick, ScheduleRecord
from leasehold.validation import LONGEST_TIME

HOUR = 3600
Hours = Annotated[
    float,
    Meta(ge=1 / HOUR, le=LONGEST_TIME / HOUR, description="Hours from tick to tick; ours is `every`, in seconds."),
]
StateCode: Any = Annotated[str, Meta(min_length=1, max_length=200, description="Stands as `state_code` in the args.")]
THEIRS: tuple[tuple[str, Any, Any], ...] = (
    ("name", ScheduleName | UnsetType, UNSET),
    ("role", Annotated[Name, Meta(description="Kind and queue.")] | UnsetType, UNSET),
    ("interval_hours", Hours | UnsetType, UNSET),
    ("state_code", StateCode | None | UnsetType, UNSET),
)

TaskScheduleBody = msgspec.defstruct(
    "TaskScheduleBody",
    [*((field.name, field.type, UNSET) for field in msgspec.structs.fields(ScheduleChange)), *THEIRS],
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    module=__name__,
    namespace={
        "__doc__": "What of a schedule is to change; what is left out stays. A body with `name` and `kind` is no part, but the "
        "whole definition, as in `/openapi.json`."
    },
)


class TaskScheduleRecord(ScheduleRecord, frozen=True, kw_only=True):
    """A schedule with the columns of `task_schedules` beside its own. `interval_hours` is null where it fires by a cron expression
    or once."""

    role: str
    interval_hours: float | None
    state_code: Any
    last_task_count: int | None


ROLES_GENERATED = {
    "resync": ("product_resync", "product_refresh", "payload_fetch"),
    "discovery": ("store_discovery",),
}
"""What `/api/tasks/generate/…` makes: tasks of the first of these roles that has a schedule."""
MOST = 1000


async def generator_named(client: Client, name: str) -> str:
    """The schedule of this name; else, for `resync` and `discovery`, the one that makes such tasks.

    Raises:
        UnknownSchedule: there is neither.
        Refusal: several make such tasks.
    """
    roles = ROLES_GENERATED.get(name)
    if roles is None:
        return name
    try:
        return (await client.schedules.get(name)).name
    except UnknownSchedule:
        pass
    for role in roles:
        if found := await client.schedules.list(kind=role, page_size=MOST):
            return _only_one(found, "path.schedule", role)
    problem = f"there is no schedule {name!r}, and none makes tasks of the role {' or '.join(roles)}"
    raise UnknownSchedule(problem)


async def stores_of(client: Client, role: str) -> str | None:
    """The schedule that makes a task of this role for each store: the one with a query. None: there is no such schedule.

    Raises:
        Refusal: several do.
    """
    found = [each for each in await client.schedules.list(kind=role, page_size=MOST) if each.query is not None]
    return _only_one(found, "$.schedule", role) if found else None


def _only_one(found: Sequence[ScheduleRecord], field: str, role: str) -> str:
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:5])
        raise refuse_field(field, f"Several schedules make tasks of the role {role}: {names}; name one of them")
    return found[0].name


CLASHES = {"role": ("kind", "queue"), "interval_hours": ("every", "cron", "at"), "state_code": ("args", "query")}
"""Two words for one thing never meet in one body."""


def task_schedule_of(schedule: ScheduleRecord) -> TaskScheduleRecord:
    """The schedule with their names beside ours, as the view `task_schedules` has them. Pure."""
    return TaskScheduleRecord(
        **msgspec.structs.asdict(schedule),
        role=schedule.kind,
        interval_hours=None if schedule.every is None else schedule.every / HOUR,
        state_code=schedule.args.get("state_code", (schedule.metadata or {}).get("state_code")),
        last_task_count=schedule.last_job_count,
    )


async def list_task_schedules(call: Call[SchedulesParameters, None]) -> Page[TaskScheduleRecord]:
    """A page of schedules by name, with the columns of `task_schedules` beside ours."""
    found = await schedules.list_schedules(call)
    return Page([task_schedule_of(each) for each in found.items], found.next)


async def show_task_schedule(call: Call[ScheduleParameters, None]) -> TaskScheduleRecord:
    """One schedule, with the columns of `task_schedules` beside ours."""
    return task_schedule_of(await schedules.show_schedule(call))


async def create_task_schedule(call: Call[NoParameters, msgspec.Struct]) -> Reply:
    """Makes a schedule, in their words (`role`, `interval_hours`, `state_code`) or in ours. A role is kind and queue, and its tasks
    are retried three times where `max_attempts` does not say otherwise."""
    given = schedules.fields_of(call.body)
    retries = {"max_attempts": DEFAULT_RETRIES + 1} if "role" in given else {}
    try:
        whole = msgspec.convert({**retries, **changes_of(given)}, ScheduleDefinition)
    except msgspec.ValidationError as error:
        raise refuse_shape(error, call.raw, ScheduleDefinition) from None
    made = await schedules.create_schedule(msgspec.structs.replace(call, body=whole))  # pyright: ignore[reportArgumentType]
    return msgspec.structs.replace(made, body=task_schedule_of(made.body))  # pyright: ignore[reportArgumentType]


async def put_schedule_or_part(call: Call[ChangeParameters, msgspec.Struct]) -> TaskScheduleRecord:
    """Changes what is given of a schedule that there is, in their words (`role`, `interval_hours`, `state_code`) or in ours. With
    `name` and `kind` it is the whole definition: what is left out takes its default, and a schedule that is not there is made."""
    given = schedules.fields_of(call.body)
    if {"name", "kind"} <= given.keys():
        try:
            whole = msgspec.convert(given, ScheduleDefinition)
        except msgspec.ValidationError as error:
            raise refuse_shape(error, call.raw, ScheduleDefinition) from None
        return task_schedule_of(await schedules.put_schedule(msgspec.structs.replace(call, body=whole)))  # pyright: ignore[reportArgumentType]
    current = await _schedule_that_is_there(call)
    if given.pop("name", current.name) != current.name:
        raise refuse_field("$.name", "A schedule cannot be given another name")
    changes = changes_of(given, current)
    asked = call.parameters
    if "args" in changes and asked.revision is None and "state_code" in given:  # made of the args that were read
        asked = msgspec.structs.replace(asked, revision=current.revision)
    part = msgspec.structs.replace(call, parameters=asked, body=ScheduleChange(**changes))  # pyright: ignore[reportArgumentType]
    return task_schedule_of(await schedules.change_schedule(part))  # pyright: ignore[reportArgumentType]


async def _schedule_that_is_there(call: Call[ChangeParameters, msgspec.Struct]) -> ScheduleRecord:
    name = call.parameters.name
    try:
        return await call.services.client.schedules.get(name)
    except UnknownSchedule as error:
        raise UnknownSchedule(
            f"there is no schedule {name!r}: a part changes one; give name and kind to make it"
        ) from error


def changes_of(given: dict[str, Any], current: ScheduleRecord | None = None) -> dict[str, Any]:
    """What is said of a schedule in our words; `current` is None for one that is to be made. Raises Refusal for two words for one
    thing, and for the state of a schedule whose stores a query gives. Pure."""
    for theirs, ours in CLASHES.items():
        for name in ours:
            if theirs in given and name in given:
                raise refuse_field(f"$.{name}", f"It does not go with {theirs}: give one of them")
    changes = {name: value for name, value in given.items() if name not in CLASHES}
    if "role" in given:
        changes |= {"kind": given["role"], "queue": given["role"]}
    if "interval_hours" in given:
        changes["every"] = given["interval_hours"] * HOUR
    if "state_code" in given:
        changes["args"] = _args_with(given["state_code"], current)
    return changes


def _args_with(state_code: str | None, current: ScheduleRecord | None) -> dict[str, Any]:
    """The schedule's args with this state; without one for None."""
    args = {} if current is None else current.args
    if current is not None and current.query is not None and args.get("state_code") != state_code:
        raise refuse_field("$.state_code", "Which stores it takes stands in the query of this schedule: change `query`")
    rest = {name: value for name, value in args.items() if name != "state_code"}
    return rest if state_code is None else {**rest, "state_code": state_code}


ROLE_OF_STATE = "payload_fetch"


class ThresholdBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a worker may have been silent about a task: in the body, or as `minutes` in the query; ten minutes if neither is
    given."""

    threshold_minutes: Annotated[float, Meta(gt=0, le=52_596_000)] | None = None


class BatchesBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In how many batches the tasks are spread over the day; as the schedule says if not given. It wins over `batches` in the
    query."""

    batches_per_day: Annotated[int, Meta(ge=1, le=100_000)] | None = None


class StateCodeBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A task for each store of a state.

    Where a schedule with a query makes tasks of this role, the stores are its rows that have this `state_code` in their
    `metadata`: the table of stores, as it is now. Else they are the keys that had a job with this `state_code` in its metadata.
    Our own bodies are taken at `/api/schedules/{name}/enqueue` and `/api/jobs/enqueue-state`."""

    state_code: Annotated[str, Meta(min_length=1, max_length=200)]
    role: Annotated[
        Name, Meta(description="What the tasks do: their kind, and their queue where no schedule says.")
    ] = ROLE_OF_STATE
    schedule: Annotated[ScheduleName, Meta(description="Where several make tasks of this role.")] | None = None
    priority: Integer | None = None
    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many stores.")] = 1000
    dry_run: DryRun = False


async def recover(call: Call[StaleParameters, ThresholdBody]) -> RecoveredBody:
    """Takes back every task whose lease has run out, or whose worker has been silent about it for this many minutes."""
    minutes = call.body.threshold_minutes or call.parameters.minutes
    parameters = msgspec.structs.replace(call.parameters, minutes=minutes)
    return await jobs.recover_stale(msgspec.structs.replace(call, parameters=parameters))  # pyright: ignore[reportArgumentType]


async def generate(call: Call[GenerateParameters, BatchesBody]) -> FiredTick:
    """Makes the tasks of one day from the schedule of this name, once.

    `generate/resync` and `generate/discovery` take the schedule that makes such tasks, where none is called so: one of
    product_resync, product_refresh or payload_fetch, and one of store_discovery.
    """
    asked = call.parameters
    name = await generator_named(call.services.client, asked.schedule)
    batches = call.body.batches_per_day or asked.batches
    named = GenerateParameters(name, asked.date, batches)
    return await schedules.generate_jobs(msgspec.structs.replace(call, parameters=named))  # pyright: ignore[reportArgumentType]


async def enqueue_state(call: Call[NoParameters, StateCodeBody]) -> Page[KeyedJob]:
    """Makes a task for each store of a state."""
    body = call.body
    schedule = body.schedule or await stores_of(call.services.client, body.role)
    if schedule is not None:
        stores = RowsBody(
            metadata={"state_code": body.state_code}, priority=body.priority, limit=body.limit, dry_run=body.dry_run
        )
        named = msgspec.structs.replace(call, parameters=ScheduleParameters(schedule), body=stores)  # pyright: ignore[reportArgumentType]
        return await schedules.enqueue_rows(named)  # pyright: ignore[reportArgumentType]
    job = JobBody(kind=body.role, queue=body.role, priority=body.priority, max_attempts=DEFAULT_RETRIES + 1)
    wanted = KeyFilter(metadata={"state_code": body.state_code})
    keys = KeysBody(job=job, filter=wanted, limit=body.limit, dry_run=body.dry_run)
    return await jobs_enqueue.enqueue_for_keys(msgspec.structs.replace(call, body=keys))  # pyright: ignore[reportArgumentType]
