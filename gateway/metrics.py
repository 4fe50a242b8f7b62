"""The gateway's metrics: of the database, and of requests."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter

from aiohttp import web

from leasehold.client.nouns.metrics import Metrics
from leasehold.errors import LeaseholdError
from leasehold.observability.metrics import Histogram, HistogramValue, Labels, Values, single
from leasehold.records.measures import FleetMeasures, OldestReady, QueueTotals
from leasehold.records.queues import QueueCounts
from leasehold.records.workers import IdentityCount

log = logging.getLogger(__name__)

MOST_QUEUES = 200
OTHER = "(other)"

Found = dict[str, Values]


class DatabaseMetrics:
    """What the database says of itself. If it does not answer, `leasehold_up` is 0 and there is nothing else."""

    def __init__(self, client: Metrics) -> None:
        self._client = client
        self._was_up = True

    async def values(self) -> Mapping[str, Values]:
        """For `leasehold.observability.metrics.expose`, by name."""
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


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

UNKNOWN_ROUTE = "(none)"
KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
STREAM_TYPE = "text/event-stream"


class Requests:
    """Counts requests by method, route and status, and how long they took by route. Routes are those of the table; all
    unknown paths count as one.

    Attributes:
        is_draining: `finish` was called.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], int] = {}
        self._seconds: dict[str, Histogram] = {}
        self._in_flight = 0
        self._none_in_flight = asyncio.Event()
        self._none_in_flight.set()
        self.is_draining = False

    @contextmanager
    def under_way(self) -> Generator[None]:
        """Around each request."""
        self._in_flight += 1
        self._none_in_flight.clear()
        try:
            yield
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._none_in_flight.set()

    async def finish(self, seconds: float) -> bool:
        """Wait until nothing is in flight, also what has a body that still arrives, at most `seconds`. Returns whether everything
        was finished."""
        self.is_draining = True
        try:
            async with asyncio.timeout(seconds):
                await self._none_in_flight.wait()
        except TimeoutError:
            return False
        return True

    def answered(self, request: web.Request, response: web.StreamResponse, began: float) -> None:
        """Count one request, which began at `perf_counter()` = `began`."""
        resource = request.match_info.route.resource
        route = UNKNOWN_ROUTE if resource is None else resource.canonical
        method = request.method if request.method in KNOWN_METHODS else "other"
        key = (method, route, str(response.status))
        self._counts[key] = self._counts.get(key, 0) + 1
        if response.content_type != STREAM_TYPE:
            self._seconds.setdefault(route, Histogram()).add(perf_counter() - began)

    def values(self) -> Iterator[tuple[str, Values]]:
        """For `leasehold.observability.metrics.expose`."""
        yield "leasehold_http_requests_total", dict(self._counts)
        yield "leasehold_http_request_seconds", {(route,): each.value() for route, each in self._seconds.items()}
        yield "leasehold_http_requests_in_flight", single(self._in_flight)


REQUESTS = web.AppKey("requests", Requests)


@web.middleware
async def count_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Counts every answered request. It is the outermost middleware, so that it sees the status of errors."""
    requests, began = request.app[REQUESTS], perf_counter()
    with requests.under_way():
        response = await handler(request)
        requests.answered(request, response, began)
        return response
