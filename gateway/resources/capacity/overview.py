"""`GET /api/overview` and `GET /api/troubles`: everything that one page shows, in two answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from leasehold.capacity.records import CapacityRecord, QueueMinute
from leasehold.gateway.resources.capacity.bodies import OverviewBody, QueueHour, TroublesBody
from leasehold.gateway.routing.routes import Call, NoParameters

MOST_QUEUES = 50
MOST_KINDS = 50
COUNTED = 1000
RATE_MINUTES = 10
MINUTE = timedelta(minutes=1)
MOST_FAILING = 5
FAILURES_LOOKED_AT = 500


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
