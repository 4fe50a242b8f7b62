"""`/api/queues…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from leasehold.capacity.records import HistoryStep, Rollup
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Cursor, Limit, Name, Page, Reason, Time, cursor_at, place_of
from leasehold.gateway.http.problems import WRONG_STATE
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.records.queues import KeyGroupRecord, LimitRecord, QueueReason, QueueRecord

GROUP = (
    "Empty: the queue as a whole. `*`: each key group of it. Else this one group, which is then free of what `*` says."
)
KeyGroup = Annotated[str, Meta(max_length=500, description=GROUP)]


class QueueParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which queue."""

    queue: Name


class PauseParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which queue, and why."""

    queue: Name
    reason: Reason | None = None


class GroupParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which limit of which queue."""

    queue: Name
    key_group: KeyGroup = ""


class GroupsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of which queue, and how many."""

    queue: Name
    limit: Limit = 50


class QueueHistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of which queue, how far back, and in how many steps."""

    queue: Name
    hours: Annotated[float, Meta(gt=0, le=720)] = 1.0
    points: Annotated[int, Meta(ge=1, le=500, description="None is shorter than a minute.")] = 60


class RollupParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which queue, and of when."""

    queue: Name
    since: Annotated[Time, Meta(description="Minutes that began then or later; the last hour if not given.")] | None = (
        None
    )
    until: Annotated[Time, Meta(description="Minutes that began earlier.")] | None = None
    cursor: Cursor | None = None
    limit: Limit = 1000


class RollupsBody(Page[Rollup], frozen=True, kw_only=True):
    """What happened minute by minute. `bounds` are the upper ones of `waits` and `runs`, in seconds."""

    bounds: Sequence[float]


class LimitBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many jobs may run at once, and how many may start in a second."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {
                "required": ["max_running"],
                "properties": {"max_running": {"type": "integer"}, "burst": {"type": "null"}},
            },
            {"required": ["rate"], "properties": {"rate": {"type": "number"}}},
        ]
    }

    key_group: KeyGroup = ""
    max_running: Annotated[int, Meta(ge=0, le=2**31 - 1, description="How many may be held at once.")] | None = None
    rate: (
        Annotated[float, Meta(ge=1e-7, le=1e6, description="How many may start in a second on the long run.")] | None
    ) = None
    burst: Annotated[int, Meta(ge=1, le=2**31 - 1, description="How many may start at once.")] | None = None


class AgeingBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the jobs of a queue age."""

    every: (
        Annotated[float, Meta(ge=1, le=2_592_000, description="Seconds that a job waits for one more priority.")] | None
    )


class AgedBody(msgspec.Struct, frozen=True):
    """How the queue is now, and whether this call changed it."""

    queue: str
    every: float | None
    changed: bool


class PausedBody(msgspec.Struct, frozen=True):
    """How the queue is now, and whether this call changed it."""

    queue: str
    paused: bool
    changed: bool


class LimitedBody(msgspec.Struct, frozen=True):
    """Whether the call changed anything."""

    changed: bool


LAST_SECOND = int(datetime.max.replace(tzinfo=UTC).timestamp()) - 1  # that a datetime can be


routes = Routes("queues")


@routes("GET", "/api/queues", "List the queues", scope=Scope.READ)
async def list_queues(call: Call[NoParameters, None]) -> Page[QueueRecord]:
    """All known queues: those with jobs, workers or limits, and paused ones."""
    return Page(await call.services.client.queues.list())


@routes("POST", "/api/queues/{queue}/pause", "Claim nothing more from a queue", scope=Scope.OPERATE)
async def pause_queue(call: Call[PauseParameters, None]) -> PausedBody:
    """Claims nothing more from a queue. Running jobs go on and jobs may still be enqueued. An unknown queue may be paused,
    too."""
    queue = call.parameters.queue
    return PausedBody(queue, True, await call.services.client.queues.pause(queue, call.parameters.reason))


@routes("POST", "/api/queues/{queue}/resume", "Claim from a paused queue again", scope=Scope.OPERATE)
async def resume_queue(call: Call[QueueParameters, None]) -> PausedBody:
    """Claims from a paused queue again."""
    queue = call.parameters.queue
    return PausedBody(queue, False, await call.services.client.queues.resume(queue))


@routes(
    "PUT", "/api/queues/{queue}/ageing", "Have waiting jobs gain priority", scope=Scope.OPERATE, example={"every": 300}
)
async def set_ageing(call: Call[QueueParameters, AgeingBody]) -> AgedBody:
    """Raises the priority of the queue's pending jobs by one for each span of this length that they have waited, up to the
    highest priority that is pending."""
    queue, every = call.parameters.queue, call.body.every
    span = None if every is None else timedelta(seconds=every)
    return AgedBody(queue, every, await call.services.client.queues.set_ageing(queue, span))


@routes(
    "GET", "/api/queues/{queue}/history", "Show what happened in a queue in steps of equal length", scope=Scope.READ
)
async def show_history(call: Call[QueueHistoryParameters, None]) -> Page[HistoryStep]:
    """What happened in a queue over the last hours, in steps of equal length, the oldest first, with waits and run times."""
    asked = call.parameters
    return Page(await call.services.client.capacity.history(asked.queue, asked.hours, points=asked.points))


@routes("GET", "/api/queues/{queue}/rollups", "Show what happened in a queue minute by minute", scope=Scope.READ)
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


@routes("GET", "/api/queues/{queue}/why", "Explain what the jobs of a queue wait for", scope=Scope.READ)
async def explain_queue(call: Call[QueueParameters, None]) -> Page[QueueReason]:
    """What the pending jobs of a queue wait for, the weightiest reason first; nothing where nothing holds them up."""
    return Page(await call.services.client.queues.explain(call.parameters.queue))


@routes("GET", "/api/queues/{queue}/groups", "List the key groups of a queue that have jobs to do", scope=Scope.READ)
async def list_groups(call: Call[GroupsParameters, None]) -> Page[KeyGroupRecord]:
    """The key groups of a queue that have jobs to do, those first that hold most; pending jobs are counted up to 1000."""
    return Page(await call.services.client.queues.groups(call.parameters.queue, most=call.parameters.limit))


@routes("GET", "/api/queues/{queue}/limits", "List the limits of a queue", scope=Scope.READ)
async def list_limits(call: Call[QueueParameters, None]) -> Page[LimitRecord]:
    """The limits of a queue and of its key groups, and how far each is used now."""
    return Page(await call.services.client.queues.limits(call.parameters.queue))


@routes(
    "PUT",
    "/api/queues/{queue}/limits",
    "Limit a queue or its key groups",
    errors=(WRONG_STATE,),
    scope=Scope.OPERATE,
    example={"key_group": "*", "max_running": 2, "rate": 0.5},
)
async def set_limit(call: Call[QueueParameters, LimitBody]) -> LimitedBody:
    """Limits a queue, each of its key groups, or one group. Every claim from now on heeds the limit. Running jobs count and
    go on."""
    body = call.body
    changed = await call.services.client.queues.set_limit(
        call.parameters.queue, body.key_group, max_running=body.max_running, rate=body.rate, burst=body.burst
    )
    return LimitedBody(changed)


@routes("DELETE", "/api/queues/{queue}/limits", "Take a limit away", errors=(WRONG_STATE,), scope=Scope.OPERATE)
async def drop_limit(call: Call[GroupParameters, None]) -> LimitedBody:
    """Takes a limit away."""
    return LimitedBody(await call.services.client.queues.drop_limit(call.parameters.queue, call.parameters.key_group))
