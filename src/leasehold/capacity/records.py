"""What the reading functions answer about capacity, and what becomes of a queue with other workers or another load."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import ceil

import msgspec

from leasehold.capacity.forecast import Forecast, QueueLoad, forecast, slots_now

HOURS = (1.0, 4.0, 8.0)


class CapacityRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a queue has, does and can do: a row of `v_worker_capacity`.

    Attributes:
        pending: jobs that have not begun; ready: those of them that may begin now; waiting: when their key is free.
        claimed, running: jobs that workers hold.
        completed_last_hour, failed_last_hour: how many ended so.
        active_workers, active_slots: of workers that serve the queue and do not pause or drain.
        slots_per_worker: on the average; 3 where there is no worker.
        avg_seconds: how long an attempt ran in the last hour; None where none ended.
        jobs_per_worker_hour: how many a worker can do; None where `avg_seconds` is.
        hours_to_drain: with the active workers, if nothing more came; None where nobody knows or nobody works.
        arrivals_per_second: of the last ten minutes, retries included.
        run_variation: variance of run times by their squared average.
        counted_at: of when the counts of jobs are; some while ago where there are many.
        is_partial: the count of pending jobs ended at a thousand; there may be more pending and ready ones.
    """

    queue: str
    pending: int
    ready: int
    claimed: int
    running: int
    completed_last_hour: int
    failed_last_hour: int
    active_workers: int
    avg_seconds: float | None
    jobs_per_worker_hour: float | None
    hours_to_drain: float | None
    active_slots: int
    slots_per_worker: float
    arrivals_per_second: float
    run_variation: float | None
    waiting: int
    counted_at: datetime
    is_partial: bool = False

    @property
    def load(self) -> QueueLoad | None:
        """What the forecast reckons with; None where nobody knows how long a job takes."""
        if self.avg_seconds is None:
            return None
        return QueueLoad(
            arrivals_per_second=self.arrivals_per_second,
            run_seconds=self.avg_seconds,
            run_variation=1.0 if self.run_variation is None else self.run_variation,
            backlog=self.ready,
            held=self.claimed + self.running,
        )


class WorkersNeeded(msgspec.Struct, frozen=True, kw_only=True):
    """How many workers it takes to be through in this number of hours while jobs go on coming; None where it is not known."""

    hours: float
    workers: int | None


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """What some number of workers makes of a load, as `Forecast` says."""

    name: str
    workers: int
    arrivals_per_second: float
    forecast: Forecast


class CapacityPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A queue with what it needs and what it is heading for.

    Attributes:
        capacity: as it is.
        workers_needed: by number of hours.
        target_wait: seconds; `desired_workers` start 95 of 100 jobs within it.
        desired_workers: how many there ought to be now.
        scenarios: what may become of it; none where nobody knows how long a job takes.
    """

    capacity: CapacityRecord
    workers_needed: list[WorkersNeeded]
    target_wait: float
    desired_workers: int
    scenarios: list[Scenario]


class QueueMinute(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs of a queue came, and how many ended in any way, in a minute."""

    queue: str
    starts_at: datetime
    arrivals: int
    ended: int


class Rollup(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a queue in one minute, or, of more than two days ago, in one hour.

    Attributes:
        starts_at, seconds: when that was, and how long: 60 or 3600.
        arrivals: jobs that were enqueued; starts: attempts that began; retries: those that failed and are made again.
        completed, failed, cancelled: jobs that ended so.
        wait_seconds: from when a job might run to its start, summed over those that completed or failed.
        run_seconds: from start to end, summed over the attempts that ended.
        waits, runs: how many of them took how long, by the bounds of `client.metrics.time_bounds`, the last one
            what is above them all.
    """

    starts_at: datetime
    seconds: int
    queue: str
    arrivals: int
    starts: int
    completed: int
    failed: int
    cancelled: int
    retries: int
    wait_seconds: float
    run_seconds: float
    waits: list[int]
    runs: list[int]


class QueueRates(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a queue between `since` and `until`. Waits and run times are seconds, None where nothing ended."""

    queue: str
    since: datetime
    until: datetime
    seconds: float
    arrivals: int
    starts: int
    completed: int
    failed: int
    cancelled: int
    retries: int
    average_wait: float | None
    average_run: float | None
    p50_wait: float | None
    p95_wait: float | None
    p50_run: float | None
    p95_run: float | None


class HistoryStep(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a queue in the `seconds` from `at` on. Waits and run times are seconds, None where nothing ended."""

    at: datetime
    seconds: float
    arrivals: int
    starts: int
    completed: int
    failed: int
    cancelled: int
    retries: int
    average_wait: float | None
    p50_wait: float | None
    p95_wait: float | None
    average_run: float | None
    p50_run: float | None
    p95_run: float | None


def scenarios(has: CapacityRecord, target_wait: float, what_if: Sequence[float] = (0.5,)) -> list[Scenario]:
    """What becomes of a queue with the workers that it has, with one less, with more arrivals (`what_if` 0.5: half as many
    again), and with as many workers as it ought to have."""
    load = has.load
    if load is None:
        return []
    slots_of = has.slots_per_worker
    workers = has.active_workers
    desired = ceil(slots_now(load, target_wait) / slots_of)
    load = msgspec.structs.replace(load, backlog=has.ready + has.waiting)
    cases = [("as it is", workers, load)]
    if workers:
        cases.append(("one worker less", workers - 1, load))
    cases += [(f"{each:+.0%} load", workers, load.times(1 + each)) for each in what_if]
    if desired != workers:
        cases.append(("as it ought to be", desired, load))
    return [
        Scenario(
            name=name,
            workers=count,
            arrivals_per_second=each.arrivals_per_second,
            forecast=forecast(each, round(count * slots_of)),
        )
        for name, count, each in cases
    ]


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """A queue as it is, and as it would be.

    Attributes:
        queue: which.
        present, supposed: None where nobody knows how long a job takes.
        desired_workers: how many the supposed load needs, so that 95 of 100 jobs start within the target; None likewise.
    """

    queue: str
    present: Scenario | None
    supposed: Scenario | None
    desired_workers: int | None


def suppose(has: CapacityRecord, *, workers: int | None, more: float, target_wait: float) -> WhatIf:
    """What becomes of a queue with `workers` workers (as many as now if None) when arrivals grow by the share `more`."""
    load = has.load
    if load is None:
        return WhatIf(queue=has.queue, present=None, supposed=None, desired_workers=None)
    wanted = ceil(slots_now(load.times(1 + more), target_wait) / has.slots_per_worker)
    load = msgspec.structs.replace(load, backlog=has.ready + has.waiting)
    count = has.active_workers if workers is None else workers
    return WhatIf(
        queue=has.queue,
        present=_scenario(has, "as it is", has.active_workers, load),
        supposed=_scenario(has, f"{more:+.0%} load", count, load.times(1 + more)),
        desired_workers=wanted,
    )


def _scenario(has: CapacityRecord, name: str, workers: int, load: QueueLoad) -> Scenario:
    slots = round(workers * has.slots_per_worker)
    return Scenario(
        name=name, workers=workers, arrivals_per_second=load.arrivals_per_second, forecast=forecast(load, slots)
    )
