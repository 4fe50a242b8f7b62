"""Requests of task workers' clients that make or take back many tasks."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import Integer, Name
from leasehold.gateway.http.pages import Page
from leasehold.gateway.resources.compat.task_bodies import DEFAULT_RETRIES
from leasehold.gateway.resources.compat.their_schedules import generator_named, stores_of
from leasehold.gateway.resources.jobs import enqueueing, handlers
from leasehold.gateway.resources.jobs.bodies import DryRun, RecoveredBody, StaleParameters
from leasehold.gateway.resources.jobs.enqueue_bodies import JobBody, KeyFilter, KeysBody
from leasehold.gateway.resources.schedules import handlers as schedule_handlers
from leasehold.gateway.resources.schedules.bodies import GenerateParameters, RowsBody, ScheduleName, ScheduleParameters
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.records import FiredTick

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
    return await handlers.recover_stale(msgspec.structs.replace(call, parameters=StaleParameters(minutes)))  # pyright: ignore[reportArgumentType]


async def generate(call: Call[GenerateParameters, BatchesBody]) -> FiredTick:
    """Makes the tasks of one day from the schedule of this name, once.

    `generate/resync` and `generate/discovery` take the schedule that makes such tasks, where none is called so: one of
    product_resync, product_refresh or payload_fetch, and one of store_discovery.
    """
    asked = call.parameters
    name = await generator_named(call.services.client, asked.schedule)
    batches = call.body.batches_per_day or asked.batches
    meant = GenerateParameters(name, asked.date, batches)
    return await schedule_handlers.generate_jobs(msgspec.structs.replace(call, parameters=meant))  # pyright: ignore[reportArgumentType]


async def enqueue_state(call: Call[NoParameters, StateCodeBody]) -> Page[KeyedJob]:
    """Makes a task for each store of a state."""
    body = call.body
    schedule = body.schedule or await stores_of(call.services.client, body.role)
    if schedule is not None:
        stores = RowsBody(
            metadata={"state_code": body.state_code}, priority=body.priority, limit=body.limit, dry_run=body.dry_run
        )
        meant = msgspec.structs.replace(call, parameters=ScheduleParameters(schedule), body=stores)  # pyright: ignore[reportArgumentType]
        return await schedule_handlers.enqueue_rows(meant)  # pyright: ignore[reportArgumentType]
    job = JobBody(kind=body.role, queue=body.role, priority=body.priority, max_attempts=DEFAULT_RETRIES + 1)
    wanted = KeyFilter(metadata={"state_code": body.state_code})
    keys = KeysBody(job=job, filter=wanted, limit=body.limit, dry_run=body.dry_run)
    return await enqueueing.enqueue_for_keys(msgspec.structs.replace(call, body=keys))  # pyright: ignore[reportArgumentType]
