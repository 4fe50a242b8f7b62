"""The handlers of `/api/queues…`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.capacity.records import HistoryStep
from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.resources.queues.bodies import (
    AgedBody,
    AgeingBody,
    GroupParameters,
    GroupsParameters,
    LimitBody,
    LimitedBody,
    PausedBody,
    PauseParameters,
    QueueHistoryParameters,
    QueueParameters,
    RollupParameters,
    RollupsBody,
)
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.queues import KeyGroupRecord, LimitRecord, QueueReason, QueueRecord

LAST_SECOND = int(datetime.max.replace(tzinfo=UTC).timestamp()) - 1  # that a datetime can be


async def list_queues(call: Call[NoParameters, None]) -> Page[QueueRecord]:
    """All known queues: those with jobs, workers or limits, and paused ones."""
    return Page(await call.services.client.queues.list())


async def pause_queue(call: Call[PauseParameters, None]) -> PausedBody:
    """Claims nothing more from a queue. Running jobs go on and jobs may still be enqueued. An unknown queue may be paused,
    too."""
    queue = call.parameters.queue
    return PausedBody(queue, True, await call.services.client.queues.pause(queue, call.parameters.reason))


async def resume_queue(call: Call[QueueParameters, None]) -> PausedBody:
    """Claims from a paused queue again."""
    queue = call.parameters.queue
    return PausedBody(queue, False, await call.services.client.queues.resume(queue))


async def set_ageing(call: Call[QueueParameters, AgeingBody]) -> AgedBody:
    """Raises the priority of the queue's pending jobs by one for each span of this length that they have waited, up to the
    highest priority that is pending."""
    queue, every = call.parameters.queue, call.body.every
    span = None if every is None else timedelta(seconds=every)
    return AgedBody(queue, every, await call.services.client.queues.set_ageing(queue, span))


async def show_history(call: Call[QueueHistoryParameters, None]) -> Page[HistoryStep]:
    """What happened in a queue over the last hours, in steps of equal length, the oldest first, with waits and run times."""
    asked = call.parameters
    return Page(await call.services.client.capacity.history(asked.queue, asked.hours, points=asked.points))


async def list_rollups(call: Call[RollupParameters, None]) -> RollupsBody:
    """What happened in a queue, minute by minute, oldest first, for charts; hour by hour for what is older than two days.
    Minutes without events and the current minute are left out. The last hour, unless the query says otherwise."""
    asked = call.parameters
    place = place_of(asked.cursor)
    since = asked.since if place is None else datetime.fromtimestamp(min(place, LAST_SECOND), UTC)
    client = call.services.client
    found = await client.capacity.rollups(asked.queue, since=since, until=asked.until, page_size=asked.limit)
    next_second = None if len(found) < asked.limit else int(found[-1].starts_at.timestamp()) + 1
    cursor = None if next_second is None else cursor_at(next_second)
    return RollupsBody(found, cursor, bounds=await client.metrics.time_bounds())


async def explain_queue(call: Call[QueueParameters, None]) -> Page[QueueReason]:
    """What the pending jobs of a queue wait for, the weightiest reason first; nothing where nothing holds them up."""
    return Page(await call.services.client.queues.explain(call.parameters.queue))


async def list_groups(call: Call[GroupsParameters, None]) -> Page[KeyGroupRecord]:
    """The key groups of a queue that have jobs to do, those first that hold most; pending jobs are counted up to 1000."""
    return Page(await call.services.client.queues.groups(call.parameters.queue, most=call.parameters.limit))


async def list_limits(call: Call[QueueParameters, None]) -> Page[LimitRecord]:
    """The limits of a queue and of its key groups, and how far each is used now."""
    return Page(await call.services.client.queues.limits(call.parameters.queue))


async def set_limit(call: Call[QueueParameters, LimitBody]) -> LimitedBody:
    """Limits a queue, each of its key groups, or one group. Every claim from now on heeds the limit. Running jobs count and
    go on."""
    body = call.body
    changed = await call.services.client.queues.set_limit(
        call.parameters.queue, body.key_group, max_running=body.max_running, rate=body.rate, burst=body.burst
    )
    return LimitedBody(changed)


async def drop_limit(call: Call[GroupParameters, None]) -> LimitedBody:
    """Takes a limit away."""
    return LimitedBody(await call.services.client.queues.drop_limit(call.parameters.queue, call.parameters.key_group))
