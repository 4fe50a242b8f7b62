"""`/api/jobs/migration/…`: moving another queue in."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.client import sources_of
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Name
from leasehold.gateway.http.problems import UNKNOWN_SOURCE, WRONG_STATE
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.moving.sources import MovedJobs, MovedSchedule, MoveReport, PlanLine, RefilledJobs, SourceRecord

Choice = Annotated[Name | None, Meta(description="Which source; may be left out where there is only one.")]


class SourceParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which source."""

    source: Choice = None


class ResyncBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For which rows to make jobs; all, where nothing is said."""

    state_code: Annotated[str, Meta(min_length=1, max_length=100, description="The filter of this name.")] | None = None
    filters: Annotated[dict[str, str], Meta(max_length=20, description="Filters of the mapping, by name.")] = {}


class MigrationStatusBody(msgspec.Struct, frozen=True):
    """The sources with what has moved, what each table of the one that is meant has left, and which jobs `full-migrate` would make
    besides."""

    sources: list[SourceRecord]
    rows: list[PlanLine]
    refill: list[RefilledJobs]


class SchedulesBody(msgspec.Struct, frozen=True):
    """What became of each schedule, and of how many."""

    disabled: int
    schedules: list[MovedSchedule]


class EndedJobsBody(msgspec.Struct, frozen=True):
    """How many jobs of the source were cancelled there, by table."""

    cancelled: int
    tables: list[MovedJobs]


class ResyncedBody(msgspec.Struct, frozen=True):
    """How many jobs were made, by kind."""

    created: int
    kinds: list[RefilledJobs]


ERRORS = (UNKNOWN_SOURCE,)
PATH = "/api/jobs/migration"
routes = Routes("moving in")


@routes("GET", f"{PATH}/status", "Compare another queue with this one", errors=ERRORS, scope=Scope.READ)
async def show_status(call: Call[SourceParameters, None]) -> MigrationStatusBody:
    """Compares the other queue with this one: what each of its tables has in each state, what would move, and what has."""
    sources = sources_of(call.services.client)
    asked = call.parameters.source
    return MigrationStatusBody(
        await sources.list(), await sources.plan(asked), await sources.refill(asked, dry_run=True)
    )


@routes(
    "POST", f"{PATH}/disable-old-schedules", "Disable the schedules of another queue", errors=ERRORS, scope=Scope.ADMIN
)
async def disable_schedules(call: Call[SourceParameters, None]) -> SchedulesBody:
    """Disables the schedules of the other queue, and makes none here."""
    done = await sources_of(call.services.client).move_schedules(call.parameters.source, only_disable=True)
    return SchedulesBody(len(done), done)


@routes(
    "POST",
    f"{PATH}/cancel-pending-crawl-jobs",
    "Cancel the pending jobs of another queue",
    errors=(WRONG_STATE, *ERRORS),
    scope=Scope.ADMIN,
)
async def cancel_jobs(call: Call[SourceParameters, None]) -> EndedJobsBody:
    """Seals the other queue and cancels its pending jobs there; no jobs are made here."""
    sources = sources_of(call.services.client)
    await sources.seal(call.parameters.source)
    done = await sources.move_jobs(call.parameters.source, discard=True)
    return EndedJobsBody(sum(each.cancelled for each in done), done)


@routes(
    "POST",
    f"{PATH}/create-resync-tasks",
    "Make a job for each row that a mapping names",
    errors=ERRORS,
    scope=Scope.ADMIN,
    example={"state_code": "AZ"},
)
async def create_resync_jobs(call: Call[SourceParameters, ResyncBody]) -> ResyncedBody:
    """Makes a job for each row that the mapping names, such as each shop. Whatever has an unfinished job of the kind gets
    none; neither does a row whose job would be refused, which is counted and told."""
    filters = dict(call.body.filters)
    if call.body.state_code is not None:
        filters["state_code"] = call.body.state_code
    made = await sources_of(call.services.client).refill(call.parameters.source, filters=filters, only_rows=True)
    return ResyncedBody(sum(each.made for each in made), made)


@routes(
    "POST", f"{PATH}/full-migrate", "Move another queue in as a whole", errors=(WRONG_STATE, *ERRORS), scope=Scope.ADMIN
)
async def migrate(call: Call[SourceParameters, None]) -> MoveReport:
    """Seals the other queue, moves or disables its schedules, moves or cancels its pending jobs, and makes the jobs that its
    mapping wants after the move. A call that was broken off goes on with the next one."""
    return await sources_of(call.services.client).migrate(call.parameters.source)
