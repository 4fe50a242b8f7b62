"""The handlers of `/api/jobs/capacity…`, and of the jobs of a queue or a key."""

from __future__ import annotations

from leasehold.capacity.records import CapacityPlan, CapacityRecord
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import UNKNOWN_QUEUE, Refusal, refuse_field
from leasehold.gateway.resources.capacity.bodies import (
    CapacityParameters,
    DesiredBody,
    DesiredParameters,
    KeyParameters,
    LastCompletionBody,
    LastCompletionParameters,
    RecentParameters,
)
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.jobs import JobRecord


async def list_capacity(call: Call[NoParameters, None]) -> Page[CapacityRecord]:
    """The jobs, throughput and capacity of each queue. Large tables are not counted at each call: `counted_at` is the time
    of the last count."""
    return Page(await call.services.client.capacity.list())


async def show_capacity(call: Call[CapacityParameters, None]) -> CapacityPlan:
    """The jobs of a queue, how many workers it needs, and how long jobs will wait: as it is, with one worker less, with
    more arrivals, and with as many workers as it should have."""
    asked = call.parameters
    found = await call.services.client.capacity.get(
        asked.queue, hours=asked.hours, target_wait=asked.target_wait, what_if=[asked.more]
    )
    if found is None:
        raise Refusal(UNKNOWN_QUEUE, f"Nothing is known of a queue {asked.queue!r}.")
    return found


async def show_desired_workers(call: Call[DesiredParameters, None]) -> DesiredBody:
    """One number for a scaler: KEDA's metrics-api scaler reads it with `valueLocation: desired_workers`. For an unknown
    queue it is `min`."""
    asked = call.parameters
    if asked.max < asked.min:
        raise refuse_field("query.max", "It must not be less than min")
    desired = await call.services.client.capacity.desired_workers(
        asked.queue,
        asked.target_wait,
        least=asked.min,
        most=asked.max,
        current=asked.current,
        hysteresis=asked.hysteresis,
        slots=asked.slots,
    )
    return DesiredBody(asked.queue, desired)


async def show_last_completion(call: Call[LastCompletionParameters, None]) -> LastCompletionBody:
    """When a job of the queue completed last."""
    queue = call.parameters.queue
    return LastCompletionBody(queue, await call.services.client.queues.last_completion(queue))


async def list_recent_jobs(call: Call[RecentParameters, None]) -> Page[JobRecord]:
    """The jobs of a queue that finished last, newest first."""
    asked = call.parameters
    return Page(await call.services.client.jobs.list_recent(asked.queue, state=asked.state, page_size=asked.limit))


async def list_key_jobs(call: Call[KeyParameters, None]) -> Page[JobRecord]:
    """The job that holds a key, and those that may run when it is free, in their order."""
    return Page(await call.services.client.jobs.list_for_key(call.parameters.key, page_size=call.parameters.limit))
