"""The handlers of `/api/jobs/capacity…`, and of the jobs of a queue or a key."""

from __future__ import annotations

from typing import TypeVar

from leasehold.capacity.hindsight import Hindsight
from leasehold.capacity.records import CapacityPlan, CapacityRecord
from leasehold.capacity.what_if import WhatIf
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import UNKNOWN_QUEUE, Refusal, refuse_field
from leasehold.gateway.resources.capacity.bodies import (
    CapacityParameters,
    DesiredBody,
    DesiredParameters,
    HindsightParameters,
    KeyParameters,
    LastCompletionBody,
    LastCompletionParameters,
    RecentParameters,
    WhatIfParameters,
)
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.jobs import JobRecord

T = TypeVar("T")


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
    return known(found, asked.queue)


async def show_what_if(call: Call[WhatIfParameters, None]) -> WhatIf:
    """What becomes of a queue with another number of workers and another load, beside what becomes of it as it is."""
    asked = call.parameters
    found = await call.services.client.capacity.what_if(
        asked.queue, workers=asked.workers, more=asked.more, target_wait=asked.target_wait
    )
    return known(found, asked.queue)


async def show_hindsight(call: Call[HindsightParameters, None]) -> Hindsight:
    """What the forecast would have said at each step of the last hours, what happened then, and the hour to come."""
    asked = call.parameters
    return known(await call.services.client.capacity.hindsight(asked.queue, asked.hours), asked.queue)


def known(found: T | None, queue: str) -> T:
    """What was found of a queue."""
    if found is None:
        raise Refusal(UNKNOWN_QUEUE, f"Nothing is known of a queue {queue!r}.")
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
