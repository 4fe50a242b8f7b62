"""Metrics of the database, measured at most once in five seconds, however often they are scraped."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Protocol

from leasehold.errors import LeaseholdError
from leasehold.observability.metrics import HistogramValue, Labels, Values, single
from leasehold.records.identities import IdentityCount
from leasehold.records.measures import FleetMeasures, OldestReady, QueueTotals
from leasehold.records.queues import QueueCounts

log = logging.getLogger(__name__)

FRESH_SECONDS = 5.0
MOST_QUEUES = 200
OTHER = "(other)"

Found = dict[str, Values]


class MeasuringClient(Protocol):
    """What is asked of `leasehold.Client.metrics`."""

    async def identities(self) -> list[IdentityCount]: ...
    async def fleet(self) -> FleetMeasures: ...
    async def counts(self) -> list[QueueCounts]: ...
    async def oldest_ready(self) -> list[OldestReady]: ...
    async def totals(self) -> list[QueueTotals]: ...
    async def time_bounds(self) -> list[float]: ...


class DatabaseMetrics:
    """The last answers of the database. If it does not answer, `leasehold_up` is 0 and there is nothing else."""

    def __init__(self, client: MeasuringClient, now: Callable[[], float] = monotonic) -> None:
        self._client = client
        self._now = now
        self._found: Found = {}
        self._asked: float | None = None
        self._was_up = True
        self._turn = asyncio.Lock()

    async def values(self) -> Mapping[str, Values]:
        """For `leasehold.observability.metrics.expose`, by name."""
        async with self._turn:
            if self._asked is None or self._now() - self._asked >= FRESH_SECONDS:
                self._found = await self._ask()
                self._asked = self._now()
        return self._found

    async def _ask(self) -> Found:
        found: Found = {"leasehold_up": single(1)}
        try:
            found |= fleet_values(await self._client.fleet())
            found |= identity_values(await self._client.identities())
            found |= depth_values(await self._client.counts())
            found |= age_values(await self._client.oldest_ready())
            found |= total_values(await self._client.totals(), await self._client.time_bounds())
        except LeaseholdError as error:
            log.log(logging.WARNING if self._was_up else logging.DEBUG, "the database could not be measured: %s", error)
            self._was_up = False
            return {"leasehold_up": single(0)}
        self._was_up = True
        return found


def fleet_values(fleet: FleetMeasures) -> Found:
    """Gauges of the workers."""
    states = ("ready", "paused", "draining", "stale")
    return {
        "leasehold_workers": {(state,): getattr(fleet, state) for state in states},
        "leasehold_workers_deaf": single(fleet.deaf),
        "leasehold_workers_lost_wake_ups": single(fleet.lost_wake_ups),
        "leasehold_workers_backing_off": single(fleet.backing_off),
        "leasehold_worker_slots": single(fleet.slots),
        "leasehold_jobs_held": single(fleet.held_jobs),
        "leasehold_jobs_overdue": single(fleet.overdue_jobs),
    }


def identity_values(counts: Sequence[IdentityCount]) -> Found:
    """Gauges of the egress identities; nothing where there are none."""
    return {"leasehold_egress_identities": {(each.state,): each.identities for each in counts}} if counts else {}


def depth_values(depths: Sequence[QueueCounts]) -> Found:
    """Gauges of jobs. Beyond the limit, the queues with the fewest jobs are counted as one."""
    jobs = Counter[str]()
    for each in depths:
        jobs[each.queue] += each.jobs
    shown = {queue for queue, _ in jobs.most_common(MOST_QUEUES)}
    found: dict[Labels, float] = {}
    for each in depths:
        labels = (each.queue if each.queue in shown else OTHER, each.state)
        found[labels] = found.get(labels, 0) + each.jobs
    return {"leasehold_jobs": found}


def age_values(oldest: Sequence[OldestReady]) -> Found:
    """Gauges of waiting time, limited to the queues that wait longest."""
    longest = sorted(oldest, key=lambda each: each.waits_for, reverse=True)[:MOST_QUEUES]
    return {"leasehold_oldest_ready_job_seconds": {(each.queue,): max(each.waits_for, 0.0) for each in longest}}


def total_values(totals: Sequence[QueueTotals], bounds: Sequence[float]) -> Found:
    """Counters and histograms of queues. Queues beyond the limit are left out: a sum over a changing set of queues could
    fall."""
    kept = sorted(totals, key=lambda each: each.arrivals, reverse=True)[:MOST_QUEUES]
    ended = {
        (each.queue, state): getattr(each, state) for each in kept for state in ("completed", "failed", "cancelled")
    }
    return {
        "leasehold_jobs_enqueued_total": {(each.queue,): each.arrivals for each in kept},
        "leasehold_jobs_claimed_total": {(each.queue,): each.starts for each in kept},
        "leasehold_jobs_ended_total": ended,
        "leasehold_jobs_retried_total": {(each.queue,): each.retries for each in kept},
        "leasehold_job_wait_seconds": {
            (each.queue,): HistogramValue(bounds, each.waits, each.wait_seconds) for each in kept
        },
        "leasehold_job_run_seconds": {
            (each.queue,): HistogramValue(bounds, each.runs, each.run_seconds) for each in kept
        },
    }
