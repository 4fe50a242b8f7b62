"""The handlers of `/api/jobs/migration/…`."""

from __future__ import annotations

from leasehold.client import sources_of
from leasehold.gateway.resources.queues.sources.bodies import (
    EndedJobsBody,
    MigrationStatusBody,
    ResyncBody,
    ResyncedBody,
    SchedulesBody,
    SourceParameters,
)
from leasehold.gateway.routing.routes import Call
from leasehold.moving.records import MoveReport


async def show_status(call: Call[SourceParameters, None]) -> MigrationStatusBody:
    """Compares the other queue with this one: what each of its tables has in each state, what would move, and what has."""
    sources = sources_of(call.services.client)
    asked = call.parameters.source
    return MigrationStatusBody(
        await sources.list(), await sources.plan(asked), await sources.refill(asked, dry_run=True)
    )


async def disable_schedules(call: Call[SourceParameters, None]) -> SchedulesBody:
    """Disables the schedules of the other queue, and makes none here."""
    done = await sources_of(call.services.client).move_schedules(call.parameters.source, only_disable=True)
    return SchedulesBody(len(done), done)


async def cancel_jobs(call: Call[SourceParameters, None]) -> EndedJobsBody:
    """Seals the other queue and cancels its pending jobs there; no jobs are made here."""
    sources = sources_of(call.services.client)
    await sources.seal(call.parameters.source)
    done = await sources.move_jobs(call.parameters.source, discard=True)
    return EndedJobsBody(sum(each.cancelled for each in done), done)


async def create_resync_jobs(call: Call[SourceParameters, ResyncBody]) -> ResyncedBody:
    """Makes a job for each row that the mapping names, such as each shop. Whatever has an unfinished job of the kind gets
    none; neither does a row whose job would be refused, which is counted and told."""
    filters = dict(call.body.filters)
    if call.body.state_code is not None:
        filters["state_code"] = call.body.state_code
    made = await sources_of(call.services.client).refill(call.parameters.source, filters=filters, only_rows=True)
    return ResyncedBody(sum(each.made for each in made), made)


async def migrate(call: Call[SourceParameters, None]) -> MoveReport:
    """Seals the other queue, moves or disables its schedules, moves or cancels its pending jobs, and makes the jobs that its
    mapping wants after the move. A call that was broken off goes on with the next one."""
    return await sources_of(call.services.client).migrate(call.parameters.source)
