"""`/api/jobs/capacity…`: what queues have, do and need."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from leasehold.capacity.hindsight import Hindsight
from leasehold.capacity.records import CapacityPlan, CapacityRecord, QueueMinute, QueueRates, WhatIf
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Key, Name, Page
from leasehold.gateway.http.problems import UNKNOWN_QUEUE, Refusal, refuse_field
from leasehold.gateway.nouns.queues import QueueParameters
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.records.jobs import JobRecord
from leasehold.records.measures import FailureGroup, FleetMeasures, OldestReady, SlowQueue, StuckKey, UnclaimedKind
from leasehold.validation import LONGEST_TIME

TargetWait = Annotated[
    float, Meta(gt=0, le=LONGEST_TIME, description="Seconds within which 95 of 100 jobs should start.")
]
Hours = Annotated[float, Meta(gt=0, le=87_600)]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
PageSize = Annotated[int, Meta(ge=1, le=100, description="How many jobs at the most.")]
FinalState = Literal["completed", "failed", "cancelled"]


class CapacityParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and what to assume."""

    queue: Name
    hours: Annotated[list[Hours], Meta(max_length=24, description="In which times to be through: hours=1&hours=8.")] = (
        msgspec.field(default_factory=lambda: [1.0, 4.0, 8.0])
    )
    target_wait: TargetWait = 30.0
    more: Annotated[
        float, Meta(gt=-1, le=1000, description="By which share arrivals might grow: 0.5 is half as many again.")
    ] = 0.5


class WhatIfParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and what to suppose."""

    queue: Name
    workers: Annotated[Count, Meta(description="How many workers; as many as there are if not given.")] | None = None
    more: Annotated[
        float,
        Meta(ge=-1, le=1000, description="By which share arrivals grow: 0.5 is half as many again, -0.5 half of them."),
    ] = 0.0
    target_wait: TargetWait = 30.0


class HindsightParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and how far back."""

    queue: Name
    hours: Annotated[float, Meta(gt=0, le=24)] = 1.0


class DesiredParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and the bounds of the answer."""

    queue: Name
    target_wait: TargetWait = 30.0
    min: Count = 0
    max: Count = 1000
    current: Annotated[Count, Meta(description="How many there are; the answer is then not a little less.")] | None = (
        None
    )
    hysteresis: Annotated[float, Meta(ge=0, lt=1, description="What share of `current` counts as a little.")] = 0.1
    slots: Annotated[int, Meta(ge=1, le=10_000, description="Of one worker.")] | None = None


class DesiredBody(msgspec.Struct, frozen=True):
    """How many workers the queue should have."""

    queue: str
    desired_workers: int


class RecentParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and how many of its jobs."""

    queue: Name
    state: FinalState | None = None
    limit: PageSize = 20


class KeyParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which key, and how many of its jobs."""

    key: Key
    limit: PageSize = 20


class LastCompletionBody(msgspec.Struct, frozen=True):
    """When a job of the queue completed last; null where none is known."""

    queue: str
    last_completed_at: datetime | None


class QueueHour(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a queue in the last hour by the minute, oldest first: jobs that came, and that ended."""

    queue: str
    arrivals: list[int]
    ended: list[int]


class OverviewBody(msgspec.Struct, frozen=True, kw_only=True):
    """How everything stands.

    Attributes:
        at: until when the rates count. fleet: the workers and what they hold.
        oldest_ready, unclaimed_kinds: what waits, and what nobody will claim; of these the 50 that wait longest.
        queues, rates: of each queue what it has and can do, and what happened in the last ten minutes.
        hours: minute by minute, of the 50 queues that have most to do.
    """

    at: datetime
    fleet: FleetMeasures
    oldest_ready: Sequence[OldestReady]
    unclaimed_kinds: Sequence[UnclaimedKind]
    queues: Sequence[CapacityRecord]
    rates: Sequence[QueueRates]
    hours: Sequence[QueueHour]


class TroublesBody(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong although workers work.

    Attributes:
        failing: what failed most in the last hour, by kind, error and place; five groups at most.
        stuck_keys: keys that one job has held for more than five minutes while others wait; twenty at most.
        slow_queues: queues whose attempts take three times as long as in the two hours before.
    """

    failing: Sequence[FailureGroup]
    stuck_keys: Sequence[StuckKey]
    slow_queues: Sequence[SlowQueue]


MOST_QUEUES = 50
MOST_KINDS = 50
COUNTED = 1000
RATE_MINUTES = 10
MINUTE = timedelta(minutes=1)
MOST_FAILING = 5
FAILURES_LOOKED_AT = 500


routes = Routes("capacity")


@routes("GET", "/api/overview", "Show how everything stands", shared_seconds=2.0, scope=Scope.READ)
async def show_overview(call: Call[NoParameters, None]) -> OverviewBody:
    """Workers, queues and what is wrong with them, for a page that is looked at all day: no large table is counted. The
    answer may be two seconds old, unless something was changed through this gateway meanwhile."""
    client = call.services.client
    queues = await client.capacity.list()
    rates = await client.capacity.rates(RATE_MINUTES)
    shown = busiest(queues)
    unclaimed = await client.metrics.unclaimed_kinds(COUNTED)
    now = max((each.until for each in rates), default=datetime.now(UTC))
    return OverviewBody(
        at=now,
        fleet=await client.metrics.fleet(),
        oldest_ready=await client.metrics.oldest_ready(),
        unclaimed_kinds=sorted(unclaimed, key=lambda each: -each.waits_for)[:MOST_KINDS],
        queues=queues,
        rates=rates,
        hours=hours_of(await client.capacity.minutes(shown), shown, now),
    )


@routes("GET", "/api/troubles", "Show what fails, what is stuck and what has become slow", scope=Scope.READ)
async def show_troubles(call: Call[NoParameters, None]) -> TroublesBody:
    """What goes wrong although workers work, worst first; the newest 500 failures of the last hour are looked at."""
    metrics = call.services.client.metrics
    since = datetime.now(UTC) - timedelta(hours=1)
    groups = await metrics.failure_groups(since, looked_at=FAILURES_LOOKED_AT)
    return TroublesBody(
        failing=sorted(groups, key=lambda each: -each.failures)[:MOST_FAILING],
        stuck_keys=await metrics.stuck_keys(),
        slow_queues=await metrics.slow_queues(),
    )


def busiest(queues: Sequence[CapacityRecord], most: int = MOST_QUEUES) -> list[str]:
    """The names of the queues that have most to do."""
    by_load = sorted(queues, key=lambda each: (-each.running - each.claimed - each.pending, -each.arrivals_per_second))
    return [each.queue for each in by_load[:most]]


def hours_of(minutes: Sequence[QueueMinute], queues: Sequence[str], now: datetime) -> list[QueueHour]:
    """Sixty minutes of each of these queues; the last one ends with the present minute."""
    hours = {queue: QueueHour(queue=queue, arrivals=[0] * 60, ended=[0] * 60) for queue in queues}
    for each in minutes:
        index = 59 - int((now.replace(second=0, microsecond=0) - each.starts_at) / MINUTE)
        if each.queue in hours and 0 <= index < 60:
            hours[each.queue].arrivals[index] += each.arrivals
            hours[each.queue].ended[index] += each.ended
    return list(hours.values())


T = TypeVar("T")


@routes("GET", "/api/jobs/capacity", "Show what each queue has, does and can do", scope=Scope.READ)
async def list_capacity(call: Call[NoParameters, None]) -> Page[CapacityRecord]:
    """The jobs, throughput and capacity of each queue. Large tables are not counted at each call: `counted_at` is the time
    of the last count."""
    return Page(await call.services.client.capacity.list())


@routes(
    "GET",
    "/api/jobs/capacity/{queue}",
    "Show what a queue needs and is heading for",
    errors=(UNKNOWN_QUEUE,),
    scope=Scope.READ,
)
async def show_capacity(call: Call[CapacityParameters, None]) -> CapacityPlan:
    """The jobs of a queue, how many workers it needs, and how long jobs will wait: as it is, with one worker less, with
    more arrivals, and with as many workers as it should have."""
    asked = call.parameters
    found = await call.services.client.capacity.get(
        asked.queue, hours=asked.hours, target_wait=asked.target_wait, what_if=[asked.more]
    )
    return known(found, asked.queue)


@routes(
    "GET",
    "/api/jobs/capacity/{queue}/what-if",
    "Show what becomes of a queue with other workers and another load",
    errors=(UNKNOWN_QUEUE,),
    scope=Scope.READ,
)
async def show_what_if(call: Call[WhatIfParameters, None]) -> WhatIf:
    """What becomes of a queue with another number of workers and another load, beside what becomes of it as it is."""
    found = await call.services.client.capacity.what_if(**msgspec.structs.asdict(call.parameters))
    return known(found, call.parameters.queue)


@routes(
    "GET",
    "/api/jobs/capacity/{queue}/hindsight",
    "Show the forecast against what happened",
    errors=(UNKNOWN_QUEUE,),
    scope=Scope.READ,
)
async def show_hindsight(call: Call[HindsightParameters, None]) -> Hindsight:
    """What the forecast would have said at each step of the last hours, what happened then, and the hour to come."""
    asked = call.parameters
    return known(await call.services.client.capacity.hindsight(asked.queue, asked.hours), asked.queue)


def known(found: T | None, queue: str) -> T:
    """What was found of a queue."""
    if found is None:
        raise Refusal(UNKNOWN_QUEUE, f"Nothing is known of a queue {queue!r}.")
    return found


@routes("GET", "/api/jobs/capacity/{queue}/desired", "Show how many workers a queue should have", scope=Scope.READ)
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


@routes(
    "GET",
    "/api/jobs/queues/{queue}/last-completion",
    "Show when a job of a queue completed last",
    scope=Scope.READ,
    tags=("queues",),
)
async def show_last_completion(call: Call[QueueParameters, None]) -> LastCompletionBody:
    """When a job of the queue completed last."""
    queue = call.parameters.queue
    return LastCompletionBody(queue, await call.services.client.queues.last_completion(queue))


@routes(
    "GET",
    "/api/jobs/queues/{queue}/recent",
    "List the jobs of a queue that finished last",
    scope=Scope.READ,
    tags=("queues",),
)
async def list_recent_jobs(call: Call[RecentParameters, None]) -> Page[JobRecord]:
    """The jobs of a queue that finished last, newest first."""
    asked = call.parameters
    return Page(await call.services.client.jobs.list_recent(asked.queue, state=asked.state, page_size=asked.limit))


@routes(
    "GET",
    "/api/jobs/keys/{key}/active",
    "List the jobs of a key that run or may run next",
    scope=Scope.READ,
    tags=("queues",),
)
async def list_key_jobs(call: Call[KeyParameters, None]) -> Page[JobRecord]:
    """The job that holds a key, and those that may run when it is free, in their order."""
    return Page(await call.services.client.jobs.list_for_key(call.parameters.key, page_size=call.parameters.limit))
