"""What the forecast would have said at each moment of the past, beside what happened then. Pure arithmetic.

For each step the forecast knows what one could know at its beginning: the backlog, how many jobs had come in the ten minutes
before and how long they ran, and how many slots there were. Backlogs of the past are reckoned back from the present one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from leasehold.capacity.forecast import QueueLoad, forecast
from leasehold.capacity.records import CapacityRecord, Rollup
from leasehold.records.workers import WorkerRecord

STEP = timedelta(minutes=5)
KNOWN = timedelta(minutes=10)
STEPS_AHEAD = 12
SHARE = 0.95


class HindsightStep(msgspec.Struct, frozen=True, kw_only=True):
    """Five minutes of a queue.

    Attributes:
        at: when they began.
        slots: of workers that served the queue then, as far as they are remembered; those that were paused count, too.
        backlog: about how many jobs were ready at the end. expected_backlog: what the forecast said of it.
        p95_wait: seconds that 95 of 100 jobs waited less than that ended in this step; None where none did.
        expected_p95_wait: what the forecast said of those that came in it or were there; None where it could not say.
    """

    at: datetime
    slots: int
    backlog: float
    expected_backlog: float | None
    p95_wait: float | None
    expected_p95_wait: float | None


class BacklogAhead(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs will be ready at a moment, if all goes on as it is."""

    at: datetime
    backlog: float


class Hindsight(msgspec.Struct, frozen=True, kw_only=True):
    """The forecast against what happened.

    Attributes:
        queue: which.
        past: step by step, the oldest first; none where no reaper runs, which keeps the books.
        ahead: the next hour, from now on; none where nobody knows how long a job takes.
    """

    queue: str
    past: Sequence[HindsightStep]
    ahead: Sequence[BacklogAhead]


class _Flow(msgspec.Struct, frozen=True):
    """What happened between two moments. `grown`: by how many jobs the backlog."""

    arrivals: int
    ended: int
    run_seconds: float
    grown: int
    waits: list[int]


def look_back(
    has: CapacityRecord,
    rollups: Sequence[Rollup],
    workers: Sequence[WorkerRecord],
    bounds: Sequence[float],
    now: datetime,
    steps: int,
) -> Hindsight:
    """The forecast against what happened in the last `steps` steps.

    Args:
        has: the queue as it is.
        rollups: its minutes in their order, at least those of the steps and of ten minutes before.
        workers: all that are remembered.
        bounds: the upper ones of the histograms of waits.
        now: by the database's clock.
    """
    past: list[HindsightStep] = []
    closed = now.replace(second=0, microsecond=0)
    backlog = float(has.ready)
    for number in range(steps if rollups else 0):
        end = closed - STEP * number
        begin = end - STEP
        happened = _flow(rollups, begin, end)
        before = max(0.0, backlog - happened.grown)
        slots = sum(each.slots for each in workers if _serves(each, has.queue, begin))
        past.append(_step(has, _flow(rollups, begin - KNOWN, begin), happened, begin, slots, before, backlog, bounds))
        backlog = before
    return Hindsight(queue=has.queue, past=past[::-1], ahead=_ahead(has, now))


def _step(
    has: CapacityRecord,
    known: _Flow,
    happened: _Flow,
    at: datetime,
    slots: int,
    before: float,
    after: float,
    bounds: Sequence[float],
) -> HindsightStep:
    seconds = known.run_seconds / known.ended if known.ended else has.avg_seconds
    load = None
    if seconds is not None:
        load = QueueLoad(
            arrivals_per_second=known.arrivals / KNOWN.total_seconds(),
            run_seconds=seconds,
            run_variation=1.0 if has.run_variation is None else has.run_variation,
            backlog=round(before),
            held=0,
        )
    expected = None if load is None else forecast(load, slots, horizon=STEP.total_seconds())
    return HindsightStep(
        at=at,
        slots=slots,
        backlog=after,
        expected_backlog=None if load is None else _fluid(load, slots, STEP.total_seconds()),
        p95_wait=percentile(happened.waits, bounds),
        expected_p95_wait=None if expected is None else expected.p95_wait_ahead,
    )


def _flow(rollups: Sequence[Rollup], begin: datetime, end: datetime) -> _Flow:
    """The sum of the minutes that began in this time."""
    found = rollups[bisect_left(rollups, begin, key=_start) : bisect_left(rollups, end, key=_start)]
    return _Flow(
        arrivals=sum(each.arrivals + each.retries for each in found),
        ended=sum(each.completed + each.failed + each.retries for each in found),
        run_seconds=sum(each.run_seconds for each in found),
        grown=sum(each.arrivals + each.retries - each.starts for each in found),
        waits=[sum(counts) for counts in zip(*(each.waits for each in found), strict=True)],
    )


def _start(rollup: Rollup) -> datetime:
    return rollup.starts_at


def _serves(worker: WorkerRecord, queue: str, at: datetime) -> bool:
    """Whether the worker was there at that time, and takes jobs of the queue."""
    ended = worker.heartbeat_at if worker.state == "stale" else worker.stopped_at
    is_there = worker.started_at <= at and (ended is None or ended > at)
    return is_there and (not worker.queues or queue in worker.queues)


def _fluid(load: QueueLoad, slots: int, seconds: float) -> float:
    """About how many jobs are ready after this time: what comes, less what the slots can do."""
    pace = slots / load.run_seconds if load.run_seconds > 0 else float("inf")
    return max(0.0, load.backlog + (load.arrivals_per_second - pace) * seconds)


def _ahead(has: CapacityRecord, now: datetime) -> list[BacklogAhead]:
    load = has.load
    if load is None:
        return []
    moments = (number * STEP.total_seconds() for number in range(STEPS_AHEAD + 1))
    return [
        BacklogAhead(at=now + timedelta(seconds=each), backlog=_fluid(load, has.active_slots, each)) for each in moments
    ]


def percentile(counts: Sequence[int], bounds: Sequence[float], share: float = SHARE) -> float | None:
    """The value that this share lies below, as the SQL function measure_percentile has it: spread evenly within a bucket. What
    lies above all bounds counts as the highest."""
    total = sum(counts)
    if not total:
        return None
    reached = 0
    for index, count in enumerate(counts):
        if count and reached + count >= share * total:
            if index >= len(bounds):
                break
            low = bounds[index - 1] if index else 0.0
            return low + (bounds[index] - low) * (share * total - reached) / count
        reached += count
    return bounds[-1]
