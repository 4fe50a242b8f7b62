"""Prometheus metrics: their names in one table, and how values become text.

Names follow https://prometheus.io/docs/practices/naming: base units, a plural for counted things, `_total` for values
that only grow. Labels never hold ids, keys or args. `expose` imports `prometheus_client` (extra `metrics`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal

import msgspec

from leasehold.errors import LeaseholdError

Type = Literal["gauge", "counter", "histogram"]
Labels = tuple[str, ...]

SECONDS = (
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0,
)  # fmt: skip
"""Upper bounds of the histograms that processes keep."""

Values = Mapping[Labels, "float | HistogramValue"]


class MetricsMissing(LeaseholdError):
    """Metrics need prometheus_client: pip install 'leasehold[metrics]'."""


class Metric(msgspec.Struct, frozen=True):
    """A metric family. Counters have their `_total` in the name."""

    name: str
    type: Type
    help: str
    labels: Labels = ()


class HistogramValue(msgspec.Struct, frozen=True):
    """What a histogram has counted.

    Attributes:
        bounds: the upper bounds of the buckets, ascending.
        counts: how many values each bucket has; one more bucket holds the values above all bounds.
        total: the sum of the values.
    """

    bounds: Sequence[float]
    counts: Sequence[int]
    total: float


METRICS: tuple[Metric, ...] = (
    # What the database holds. Only the gateway exposes it: a sum over processes would count it twice.
    Metric("leasehold_up", "gauge", "Whether the database answered when it was last asked."),
    Metric("leasehold_jobs", "gauge", "Jobs by queue and state; of big tables the last count.", ("queue", "state")),
    Metric(
        "leasehold_oldest_ready_job_seconds", "gauge", "How long the oldest job that could run has waited.", ("queue",)
    ),
    Metric("leasehold_jobs_overdue", "gauge", "Held jobs whose lease has run out and that nobody has taken back yet."),
    Metric("leasehold_jobs_held", "gauge", "Claimed and running jobs."),
    Metric("leasehold_workers", "gauge", "Workers that have not ended, by state.", ("state",)),
    Metric("leasehold_workers_deaf", "gauge", "Live workers that poll because they do not hear notifications."),
    Metric(
        "leasehold_workers_lost_wake_ups",
        "gauge",
        "Jobs that the workers that are still known found by polling, though they listened and nobody had rung for them.",
    ),
    Metric("leasehold_workers_backing_off", "gauge", "Live workers that claim nothing for lack of memory or CPU."),
    Metric("leasehold_worker_slots", "gauge", "Slots of workers that are ready."),
    Metric("leasehold_egress_identities", "gauge", "Egress identities by state.", ("state",)),
    Metric("leasehold_jobs_enqueued_total", "counter", "Jobs that were enqueued.", ("queue",)),
    Metric("leasehold_jobs_claimed_total", "counter", "Attempts that were claimed.", ("queue",)),
    Metric("leasehold_jobs_ended_total", "counter", "Jobs that ended, by how.", ("queue", "state")),
    Metric("leasehold_jobs_retried_total", "counter", "Attempts that failed and were followed by another.", ("queue",)),
    Metric("leasehold_job_wait_seconds", "histogram", "From when a job could run to its start.", ("queue",)),
    Metric("leasehold_job_run_seconds", "histogram", "Of attempts that ended.", ("queue",)),
    # What a gateway did.
    Metric("leasehold_http_requests_total", "counter", "Requests answered.", ("method", "route", "status")),
    Metric("leasehold_http_request_seconds", "histogram", "Until the answer was ready; streams left out.", ("route",)),
    Metric("leasehold_http_requests_in_flight", "gauge", "Requests being answered."),
    Metric("leasehold_gateway_enqueue_statements_total", "counter", "Statements that wrote coalesced jobs."),
    Metric("leasehold_gateway_enqueue_statements_refused_total", "counter", "Of these, refused ones."),
    Metric("leasehold_gateway_coalesced_jobs_total", "counter", "Jobs in these statements."),
    Metric("leasehold_gateway_unanswered_jobs", "gauge", "Jobs whose callers wait for the commit."),
    Metric("leasehold_streams", "gauge", "Open streams of events."),
    Metric("leasehold_stream_changes_total", "counter", "Changes that the reader of the streams found."),
    Metric("leasehold_stream_reads_total", "counter", "Looks of that reader at the database."),
    Metric("leasehold_stream_overflows_total", "counter", "Streams that ended because their client was too slow."),
    # What a worker did.
    Metric("leasehold_worker_jobs_started_total", "counter", "Attempts whose handler was called.", ("kind",)),
    Metric("leasehold_worker_attempts_total", "counter", "Attempts that ended here.", ("kind", "outcome")),
    Metric("leasehold_worker_run_seconds", "histogram", "Of attempts that completed or failed here.", ("kind",)),
    Metric("leasehold_worker_slots_busy", "gauge", "Slots of this worker whose handler runs."),
    Metric("leasehold_worker_slots_configured", "gauge", "Slots of this worker."),
    Metric("leasehold_worker_claims_total", "counter", "Claim statements.", ("result",)),
    Metric("leasehold_worker_jobs_claimed_total", "counter", "Jobs claimed."),
    Metric("leasehold_worker_jobs_handed_back_total", "counter", "Claimed jobs given back unstarted."),
    Metric("leasehold_worker_wake_ups_total", "counter", "Notifications that ended a wait."),
    Metric("leasehold_worker_wake_ups_lost_total", "counter", "Jobs that a poll found although nobody had rung."),
    Metric("leasehold_worker_settle_statements_total", "counter", "Statements that wrote outcomes."),
    Metric("leasehold_worker_outcomes_settled_total", "counter", "Outcomes written, by what they were.", ("outcome",)),
    Metric("leasehold_worker_outcomes_waiting", "gauge", "Outcomes not yet written."),
    Metric("leasehold_worker_leases_renewed_total", "counter", "Renewals that were accepted."),
    Metric("leasehold_worker_leases_lost_total", "counter", "Leases found lost."),
    Metric("leasehold_worker_loop_blocked_total", "counter", "How often a handler was found to block the event loop."),
    # What a reaper did.
    Metric("leasehold_reaper_jobs_total", "counter", "Jobs the reaper moved, by why.", ("reason",)),
    Metric("leasehold_reaper_rounds_total", "counter", "Looks of the reaper."),
    # Of every process.
    Metric("leasehold_build_info", "gauge", "Always 1; the version is in the label.", ("version",)),
    Metric("leasehold_loop_lag_seconds", "gauge", "For how long the event loop has not run."),
)
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}


class Histogram:
    """Counts durations by how long they are."""

    __slots__ = ("_counts", "_total")

    def __init__(self) -> None:
        self._counts = [0] * (len(SECONDS) + 1)
        self._total = 0.0

    def add(self, value: float) -> None:
        """Count one value."""
        self._counts[bisect_left(SECONDS, value)] += 1
        self._total += value

    def value(self) -> HistogramValue:
        """What was counted so far."""
        return HistogramValue(SECONDS, tuple(self._counts), self._total)


def single(value: float) -> Values:
    """The value of a metric without labels."""
    return {(): value}


def expose(values: Iterable[tuple[str, Values]], accept: str = "") -> tuple[bytes, str]:
    """The text for Prometheus and its content type. The text also has the CPU time and memory of this process.

    Args:
        values: pairs of a name in `METRICS` and its values.
        accept: the Accept header of the request, which decides between the two formats.

    Raises:
        MetricsMissing: prometheus_client is not installed.
    """
    try:
        from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415
        from prometheus_client.exposition import choose_encoder  # noqa: PLC0415
    except ImportError as error:
        raise MetricsMissing from error
    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    registry.register(_Values(values))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class _Values:
    """What prometheus_client calls a collector."""

    def __init__(self, values: Iterable[tuple[str, Values]]) -> None:
        self._values = values

    def collect(self) -> Iterable[Any]:
        """The families with their samples."""
        for name, samples in self._values:
            metric = BY_NAME[name]
            family = _family(metric)
            for labels, value in samples.items():
                if isinstance(value, HistogramValue):
                    family.add_metric(labels, _buckets(value), sum_value=value.total)
                else:
                    family.add_metric(labels, value)
            yield family


def _family(metric: Metric) -> Any:
    from prometheus_client import metrics_core  # noqa: PLC0415

    family = getattr(metrics_core, f"{metric.type.capitalize()}MetricFamily")
    return family(metric.name, metric.help, labels=metric.labels)


def _buckets(value: HistogramValue) -> list[tuple[str, float]]:
    """Cumulative counts by upper bound, as Prometheus wants them."""
    bounds = [*(str(float(bound)) for bound in value.bounds), "+Inf"]
    return list(zip(bounds, map(float, accumulate(value.counts)), strict=True))
